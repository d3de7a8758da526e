import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { problemOf } from '../../packages/client/src/problem.ts';

const word = fc.stringMatching(/^[A-Za-z0-9&<>"']{1,12}$/);
const words = fc.array(word, { minLength: 1, maxLength: 5 }).map((all) => all.join(' '));
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};
const escaped = (text: string) => text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? '');
const comment = fc.constantFrom(
  '',
  '<!-- a > b -->',
  '\n<!-- <title>no</title> -->\n<!---->',
  '<!-- <p> -- -->\n',
);
const head = fc.constantFrom(
  '',
  '<meta charset="utf-8" />',
  '<style>p { color: red }</style>\n',
  '<script>a < b && c()</script>',
  '<SCRIPT defer>"<title>no</title>" <script></SCRIPT >',
  '<svg><title></title></svg>',
);

test('the problem of a web page shows its title, otherwise its words, without markup', () => {
  fc.assert(
    fc.property(
      fc.record({
        start: fc.constantFrom('<!doctype html>\n<html lang="en">', '<!DOCTYPE html><html>', ' <html>'),
        first: comment,
        second: comment,
        head,
        title: fc.option(words, { nil: undefined }),
        text: words,
      }),
      ({ first, start, second, head: more, title, text }) => {
        const titled = title === undefined ? '' : `<title data-a="b">\n  ${escaped(title)}</title>`;
        const page = `${first}${start}${second}<head>${more}${titled}</head><body><p>${escaped(text)}</p></body></html>`;
        expect(problemOf(502, page)).toMatchObject({
          code: 'HTTP_502',
          detail: `a web page: ${title ?? text}`,
        });
      },
    ),
  );
});

test.each(['upstream connect error', '{"hello": 1}', 'a <b> c', '<!-- html -->', '<!-- <html>', '&amp;'])(
  'the problem of any other answer shows its text: %s',
  (text) => {
    expect(problemOf(503, text).detail).toBe(text);
  },
);

test.each(['<script', '<title', '<!--', '<', '</', '<style>', '-->'])(
  'only the beginning of a page with endless %s is read',
  (piece) => {
    const page = `<html><p>Bad gateway</p>${piece.repeat(100_000)}<p>beyond</p><title>beyond</title>`;
    const { detail } = problemOf(502, page);
    expect(detail).toMatch(/^a web page: Bad gateway/);
    expect(detail).not.toContain('beyond');
  },
);
