import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { openApi } from '../../../packages/cairn/src/api/openapi/document.ts';
import { htmlOf } from '../../../packages/cairn/src/api/openapi/page.ts';
import { Installation } from '../installation.ts';

async function page() {
  const answer = await new Installation().api.request('/v1/docs');
  return { answer, html: await answer.text() };
}

test('is public and HTML', async () => {
  const { answer, html } = await page();
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(html).toMatch(/^<!doctype html>/);
});

test('shows every route and links every schema to its definition', async () => {
  const { html } = await page();
  for (const [path, methods] of Object.entries(openApi('1.2.3').paths)) {
    for (const method of Object.keys(methods))
      expect(html).toContain(`${method.toUpperCase()} ${path}</code>`);
  }
  const targets = [...html.matchAll(/href="#(\w+)"/g)].map(([, to]) => to);
  expect(targets.length).toBeGreaterThan(0);
  for (const to of targets) expect(html).toContain(`id="${to}"`);
});

test('loads and runs nothing', async () => {
  const { html } = await page();
  expect(html).not.toMatch(/<(script|link|img|iframe|object|embed|form|base|svg|video|audio)\b/i);
  expect(html).not.toMatch(/\s(src|srcset|style|action|on\w+)\s*=/i);
  expect(html).not.toMatch(/@import|url\(/i);
  const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, to = '']) => to);
  for (const to of links) expect(to).toMatch(/^(#\w+|\/v1\/openapi\.json)$/);
});

test('forbids everything in its policy except its own style', async () => {
  const { answer, html } = await page();
  const [, style = ''] = /<style>([\s\S]*)<\/style>/.exec(html) ?? [];
  const hash = createHash('sha256').update(style).digest('base64');
  expect(answer.headers.get('content-security-policy')).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  );
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
});

test('escapes texts of the document that look like HTML', () => {
  const document = openApi('<script>alert("1")</script>');
  const html = htmlOf({ ...document, info: { ...document.info, description: 'a < b & `c`' } });
  expect(html).not.toContain('<script');
  expect(html).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;');
  expect(html).toContain('a &lt; b &amp; <code>c</code>');
});
