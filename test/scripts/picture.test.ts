import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { pictureOf } from '../../scripts/picture/svg.ts';

const part = (text: string) => ({ text, tone: 'plain' });
const textsOf = (svg: string) =>
  [...svg.matchAll(/<tspan class="plain">([^<]*)<\/tspan>/g)].map(([, text = '']) =>
    text.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code))),
  );

test('a picture has every line in full, with any characters', () => {
  const line = fc.record({
    at: fc.nat(100_000),
    parts: fc.array(fc.string().map(part), { minLength: 1, maxLength: 3 }),
  });
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 20 }), (lines) => {
      expect(textsOf(pictureOf(lines, 'a run'))).toEqual(
        lines.flatMap(({ parts }) => parts.map(({ text }) => text)),
      );
    }),
  );
});

test('lines appear in order, long pauses are shortened, and nothing moves for readers who prefer reduced motion', () => {
  const lines = [0, 10, 600_000].map((at) => ({ at, parts: [part(String(at))] }));
  const svg = pictureOf(lines, 'a "run"');
  const shares = [...svg.matchAll(/@keyframes l\d+\{0%\{opacity:0\}([\d.]+)%/g)].map(([, share]) =>
    Number(share),
  );
  expect(shares).toHaveLength(2);
  expect(shares[0]).toBeLessThan(shares[1] ?? 0);
  expect(Number(/g\{animation:([\d.]+)s/.exec(svg)?.[1])).toBeLessThan(10);
  expect(svg).toContain('prefers-reduced-motion:reduce');
  expect(svg).toContain('aria-label="a &#34;run&#34;"');
});

test('the picture of the readme shows a run that was interrupted and completed, and is small', () => {
  const svg = readFileSync(join(import.meta.dirname, '../../docs/recovered-run.svg'), 'utf8');
  expect(svg).toMatch(/kill -9 \d+[\s\S]*the worker of dispatch 1 died[\s\S]*resumed[\s\S]*✓ completed/);
  expect(svg.length).toBeLessThan(20_000);
  // Charged before its worker died, and never again.
  expect(svg.match(/calls payments\.charge/g)).toHaveLength(1);
});
