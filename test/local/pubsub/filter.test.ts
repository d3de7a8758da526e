import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseFilter } from '../../../packages/local-pubsub/src/model/filter.ts';
import { PubsubError } from '../../../packages/local-pubsub/src/model/status.ts';

const message = { domain: 'com', 'iana.org/language_tag': 'en_US', empty: '', み: 'x', n: '5' };

describe('a filter', () => {
  test.each([
    ['', true],
    ['   ', true],
    ['attributes:domain', true],
    ['attributes:other', false],
    ['attributes:constructor', false],
    ['attributes.domain = "com"', true],
    ['attributes.domain="com"', true],
    ['attributes.domain = "Com"', false],
    ['attributes.domain != "org"', true],
    ['attributes.domain != "com"', false],
    ['attributes.other != "com"', true],
    ['attributes.empty = ""', true],
    ['attributes."iana.org/language_tag" = "en_US"', true],
    ['attributes:"\\u307F"', true],
    ['attributes.domain = "\\x63\\157\\U0000006d"', true],
    ['hasPrefix(attributes.domain, "co")', true],
    ['hasPrefix(attributes.domain, "om")', false],
    ['hasPrefix(attributes.other, "")', false],
    ['NOT attributes:domain', false],
    ['-attributes:other', true],
    ['attributes:domain AND attributes:n', true],
    ['attributes:domain AND attributes:x AND attributes:n', false],
    ['attributes:x OR attributes:y OR attributes:n', true],
    ['attributes:x OR (attributes:domain AND NOT attributes:y)', true],
    ['NOT (attributes:x OR attributes:domain)', false],
  ])('%s is %s', (source, matches) => {
    expect(parseFilter(source)(message)).toBe(matches);
  });

  test.each([
    'attributes',
    'attributes.',
    'attributes.a',
    'attributes.a = b',
    'attributes.a == "b"',
    'attributes.a = "b',
    'attributes.a = "\\q"',
    'attributes.a = "\\UFFFFFFFF"',
    'attributes.a > "b"',
    'data = "x"',
    'attributes:a AND',
    'attributes:a attributes:b',
    'attributes:a AND attributes:b OR attributes:c',
    'attributes:a and attributes:b',
    '(attributes:a',
    'attributes:a)',
    'NOT NOT attributes:a',
    'hasPrefix(attributes.a)',
    'hasSuffix(attributes.a, "b")',
    '!attributes:a',
  ])('%s is refused', (source) => {
    expect(() => parseFilter(source)).toThrow(PubsubError);
  });

  test('of any text is parsed or refused, without another error', () => {
    const words = fc.constantFrom(
      'attributes',
      '.',
      ':',
      'a',
      '"b"',
      '=',
      '!=',
      'AND',
      'OR',
      'NOT',
      '(',
      ')',
      ',',
      '-',
      '"',
      '\\',
      ' ',
      'hasPrefix',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(words).map((list) => list.join(' ')),
        ),
        (source) => {
          try {
            expect(typeof parseFilter(source)(message)).toBe('boolean');
          } catch (error) {
            expect(error).toBeInstanceOf(PubsubError);
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });

  interface Tree {
    readonly text: string;
    readonly truth: boolean;
  }
  const { tree } = fc.letrec<{ tree: Tree; leaf: Tree }>((tie) => ({
    leaf: fc.constantFrom(
      { text: 'attributes:domain', truth: true },
      { text: 'attributes.domain = "org"', truth: false },
      { text: 'hasPrefix(attributes.n, "5")', truth: true },
      { text: 'attributes:nothing', truth: false },
    ),
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      tie('leaf'),
      tie('tree').map(({ text, truth }) => ({ text: `NOT (${text})`, truth: !truth })),
      fc.tuple(fc.boolean(), fc.array(tie('tree'), { minLength: 2, maxLength: 3 })).map(([and, parts]) => ({
        text: parts.map(({ text }) => `(${text})`).join(and ? ' AND ' : ' OR '),
        truth: and ? parts.every(({ truth }) => truth) : parts.some(({ truth }) => truth),
      })),
    ),
  }));

  test('of any shape matches by its parts', () => {
    fc.assert(fc.property(tree, ({ text, truth }) => expect(parseFilter(text)(message)).toBe(truth)));
  });
});
