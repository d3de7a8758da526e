import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { problemOf } from '../../packages/client/src/problem.ts';

const words = fc.stringMatching(/^[A-Za-z0-9]{1,12}( [A-Za-z0-9]{1,12}){0,4}$/);
const head = fc.constantFrom(
  '',
  '<meta charset="utf-8" />',
  '<style>p { color: red }</style>\n',
  '<script>a < b && c()</script>',
);

test('of a web page its title is shown, or its words if it has none, and no markup', () => {
  fc.assert(
    fc.property(
      fc.record({
        start: fc.constantFrom('<!doctype html>\n<html lang="en">', '<!DOCTYPE html><html>', ' <html>'),
        head,
        title: fc.option(words, { nil: undefined }),
        text: words,
      }),
      ({ start, head: more, title, text }) => {
        const titled = title === undefined ? '' : `<title data-a="b">\n  ${title}</title>`;
        const page = `${start}<head>${more}${titled}</head><body><p>${text}</p></body></html>`;
        expect(problemOf(502, page)).toMatchObject({
          code: 'HTTP_502',
          detail: `a web page: ${title ?? text}`,
        });
      },
    ),
  );
});

test.each(['upstream connect error', '{"hello": 1}', 'a <b> c'])(
  'of another answer that is no problem the text is shown: %s',
  (text) => {
    expect(problemOf(503, text).detail).toBe(text);
  },
);
