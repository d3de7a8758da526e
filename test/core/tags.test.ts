import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { foundBy } from '../../packages/cairn/src/core/search/found-by.ts';
import {
  MAX_TAG_VALUE_CHARS,
  MAX_TAGS,
  type Tags,
  tagsOf,
} from '../../packages/cairn/src/core/search/tags.ts';

describe('tags', () => {
  test.each<[Tags, readonly string[]]>([
    [{}, []],
    [{ customer: '42', paid: true, items: 3 }, ['customer:42', 'paid:true', 'items:3']],
    [{ customer: undefined, region: null, note: '' }, []],
    [{ url: 'https://a.test/?b=c:d' }, ['url:https://a.test/?b=c:d']],
    [{ name: 'Ada Lovelace' }, ['name:Ada Lovelace']],
  ])('%j are %j', (given, tags) => {
    expect(tagsOf('order', given)).toEqual(tags);
  });

  test.each<[string, unknown, RegExp]>([
    ['a list', ['customer:42'], /is no object of values by name/],
    ['nothing', undefined, /is no object of values by name/],
    ['a promise of tags', Promise.resolve({ a: 1 }), /is no object of values by name/],
    ['a name with a colon', { 'a:b': 1 }, /has the name 'a:b'/],
    ['a name that begins with a digit', { '1st': 1 }, /has the name '1st'/],
    ['a long name', { [`a${'x'.repeat(50)}`]: 1 }, /has the name/],
    ['an object', { customer: { id: 1 } }, /value of 'customer' that is no text, number or boolean/],
    ['a long value', { customer: 'x'.repeat(MAX_TAG_VALUE_CHARS + 1) }, /with 201 characters; at most 200/],
    ['a line break', { customer: 'a\nb' }, /control characters/],
    ['a character cut in two', { title: 'order 📦'.slice(0, 7) }, /value of 'title' with a lone surrogate/],
    [
      'too many',
      Object.fromEntries(Array.from({ length: MAX_TAGS + 1 }, (_, i) => [`t${i}`, i])),
      /has 11 tags; at most 10/,
    ],
  ])('%s is refused', (_, given, message) => {
    expect(() => tagsOf('order', given as Tags)).toThrow(
      expect.objectContaining({
        code: 'INVALID_INPUT',
        field: 'tags',
        message: expect.stringMatching(message),
      }),
    );
  });

  test('each accepted tag is a name that the run is found by', () => {
    const values = fc.oneof(fc.string({ maxLength: MAX_TAG_VALUE_CHARS }), fc.integer(), fc.boolean());
    const names = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.-]{0,49}$/);
    fc.assert(
      fc.property(fc.dictionary(names, values, { maxKeys: MAX_TAGS }), (given) => {
        let tags: readonly string[];
        try {
          tags = tagsOf('order', given);
        } catch {
          // The only remaining reason for a refusal is a control character.
          expect(Object.values(given).some((value) => /\p{Cc}/u.test(String(value)))).toBe(true);
          return;
        }
        const run = { trigger: { source: 'api' }, threadId: 'th', traceId: 't', tags } as const;
        expect(foundBy(run)).toEqual(expect.arrayContaining([...tags]));
      }),
    );
  });
});
