import vm from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { writeCanonical } from '../../../packages/cairn/src/core/encoding/canonical.ts';
import {
  canonicalJson,
  type Json,
  MAX_JSON_DEPTH,
  toJsonText,
} from '../../../packages/cairn/src/core/encoding/json.ts';
import { CairnError } from '../../../packages/cairn/src/core/errors.ts';

const json = () => fc.jsonValue() as fc.Arbitrary<Json>;

function refusal(value: unknown): CairnError {
  try {
    toJsonText(value, 'output');
  } catch (error) {
    if (error instanceof CairnError) return error;
    throw error;
  }
  throw new Error('the value was accepted');
}

function nested(depth: number): unknown {
  let value: unknown = 'core';
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { in: value };
  return value;
}

describe('canonical JSON', () => {
  test.each<[string, Json, string]>([
    [
      'sorts members by UTF-16 code unit',
      { '\u20ac': 1, '\r': 2, '\ufb33': 3, 1: 4, '\ud83d\ude00': 5, a: 6 },
      '{"\\r":2,"1":4,"a":6,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}',
    ],
    [
      'writes numbers as ECMAScript does',
      [333333333.3333333, 1e30, 4.5, 2e-3, 1e-27, -0],
      '[333333333.3333333,1e+30,4.5,0.002,1e-27,0]',
    ],
    ['keeps the order of arrays', [3, 1, 2], '[3,1,2]'],
    ['drops undefined members', { a: undefined, b: 1 }, '{"b":1}'],
  ])('%s', (_claim, value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  test('equals the output of canonicalize byte for byte', () => {
    // Includes values of user code that are refused later: the writer and the library must agree about them.
    const odd = fc.constantFrom<unknown>(
      undefined,
      Symbol('s'),
      () => 1,
      new Date(0),
      -0,
      Number.NaN,
      Infinity,
      '\ud800',
      1n,
    );
    const leaf = fc.oneof(
      {
        weight: 20,
        arbitrary: fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.double(),
          fc.integer(),
          fc.boolean(),
          fc.constant(null),
        ),
      },
      { weight: 1, arbitrary: odd },
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 6 }, leaf, tie('array'), tie('record')),
      array: fc.array(tie('value'), { maxLength: 8 }),
      record: fc.dictionary(fc.string({ unit: 'binary', maxLength: 6 }), tie('value'), { maxKeys: 8 }),
    }));
    fc.assert(
      fc.property(value, (any) => {
        expect(said(() => writeCanonical(any))).toEqual(said(() => canonicalize(any)));
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['far below the depth to which the writer goes', 40],
    ['at it', 50],
    ['one level below', 51],
    ['deeper', 150],
  ])('is what canonicalize writes for values nested %s', (_where, depth) => {
    const value = nested(depth);
    expect(writeCanonical(value)).toBe(canonicalize(value));
  });

  test('refuses a cycle instead of following it', () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = [cycle];
    expect(() => writeCanonical(cycle)).toThrow('Circular reference');
  });

  test('orders few and many names of any kind as canonicalize does', () => {
    const names = fc.uniqueArray(fc.string({ unit: 'binary' }), { size: 'medium', maxLength: 40 });
    fc.assert(
      fc.property(names, (some) => {
        const record = Object.fromEntries(some.map((name, i) => [name, i]));
        expect(writeCanonical(record)).toBe(canonicalize(record));
      }),
    );
  });

  test('does not depend on the order in which members were added', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json()), (record) => {
        const reversed = Object.fromEntries(Object.entries(record).reverse());
        expect(canonicalJson(reversed)).toBe(canonicalJson(record));
      }),
    );
  });

  test('reading and writing it again changes nothing', () => {
    fc.assert(
      fc.property(json(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(JSON.parse(text) as Json)).toBe(text);
      }),
    );
  });

  test('values that differ as JSON have different text', () => {
    fc.assert(
      fc.property(json(), json(), (a, b) => {
        const sameValue = JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
        expect(canonicalJson(a) === canonicalJson(b)).toBe(sameValue);
      }),
    );
  });
});

/** The text, or the message of the refusal. */
function said(write: () => string | undefined): { text?: string | undefined; refused?: string } {
  try {
    return { text: write() };
  } catch (error) {
    return { refused: (error as Error).message };
  }
}

/** Sorts members independently of the code under test. */
function sorted(value: Json): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => ({ key, member: sorted(member as Json) }));
  // Wrapped to distinguish an empty object from an empty array.
  return { members };
}

describe('the text of a user value', () => {
  test('a JSON value is read back as JSON.parse returns it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        expect(JSON.parse(toJsonText(value, 'output'))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test('undefined becomes null, undefined members are dropped, -0 becomes 0', () => {
    expect(toJsonText(undefined, 'output')).toBe('null');
    expect(toJsonText({ a: undefined, b: [{}] }, 'output')).toBe('{"b":[{}]}');
    expect(toJsonText(-0, 'output')).toBe('0');
  });

  test('an object without a prototype and one of another realm are plain objects', () => {
    const bare = Object.assign(Object.create(null) as object, { a: 1 });
    expect(toJsonText(bare, 'output')).toBe('{"a":1}');
    expect(toJsonText(vm.runInNewContext('({ b: [1, { c: 2 }] })'), 'output')).toBe('{"b":[1,{"c":2}]}');
  });

  test('an object in two places is not a cycle', () => {
    const shared = { a: 1 };
    expect(toJsonText([shared, { shared }], 'output')).toBe('[{"a":1},{"shared":{"a":1}}]');
  });

  class Money {
    readonly cents = 5;
  }
  class List extends Array<number> {}
  const holed: unknown[] = [1, 2, 3];
  delete holed[1];

  test.each<[string, unknown, string]>([
    ['a date', { files: [{}, { when: new Date(0) }] }, 'output.files[1].when is an instance of Date'],
    ['a map', { m: new Map() }, 'output.m is an instance of Map'],
    ['a set', [new Set()], 'output[0] is an instance of Set'],
    ['an instance of a class', { price: new Money() }, 'output.price is an instance of Money'],
    ['an array of a subclass', List.from([1]), 'output is an instance of List'],
    ['a typed array', { bytes: new Uint8Array(2) }, 'output.bytes is an instance of Uint8Array'],
    ['a boxed number', [Object(1)], 'output[0] is an instance of Number'],
    ['an error', { e: new TypeError('x') }, 'output.e is an instance of TypeError'],
    ['an object with another prototype', Object.create({ a: 1 }), 'output is an instance of Object'],
    ['undefined in an array', { a: [1, undefined] }, 'output.a[1] is undefined'],
    ['a hole in an array', { a: holed }, 'output.a[1] is undefined'],
    [
      'named members of an array',
      Object.assign([1], { extra: true }),
      'output is an array with named members',
    ],
    ['NaN', { n: Number.NaN }, 'output.n is NaN'],
    ['infinity', [Number.NEGATIVE_INFINITY], 'output[0] is -Infinity'],
    ['a big integer', { n: 1n }, 'output.n is a bigint'],
    ['a function', { f: () => 1 }, 'output.f is a function'],
    ['a symbol', [Symbol('s')], 'output[0] is a symbol'],
    ['a symbol as key', { [Symbol('s')]: 1 }, 'output is an object with symbol keys'],
    ['a lone surrogate', { text: 'a\ud800b' }, 'output.text is a string with a lone surrogate'],
    [
      'a lone surrogate in a key',
      { in: { '\udc00': 1 } },
      'output.in is an object with a lone surrogate in a key',
    ],
    ['a toJSON method', { a: { toJSON: () => 1 } }, 'output.a is an instance of Object with a toJSON method'],
    ['an offender under an unusual key', { 'a b': { 1: 1n } }, 'output["a b"]["1"] is a bigint'],
  ])('%s is refused with the path of the offender', (_what, value, message) => {
    const error = refusal(value);
    expect(error.code).toBe('INVALID_INPUT');
    expect(error.message).toContain(message);
    expect(message.startsWith(`${error.field} is `)).toBe(true);
  });

  test('the first of several violations is named', () => {
    expect(refusal({ a: 1, b: [1n], c: new Date() }).field).toBe('output.b[0]');
  });

  test('a cycle is reported as a cycle at any position', () => {
    const self: { self?: unknown } = {};
    self.self = self;
    const tail: unknown[] = [];
    tail.push({ back: tail });
    expect(refusal(self).message).toMatch(/is a reference cycle$/);
    expect(refusal({ ok: 1, deep: [tail] }).message).toMatch(/is a reference cycle$/);
  });

  test('the error about a cycle or a deep value has a limited length and advice', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ minLength: 500, maxLength: 900 })), {
          minLength: 1,
          maxLength: 40,
        }),
        fc.boolean(),
        (names, isCycle) => {
          const root: Record<string, unknown> = {};
          let inner = root;
          for (let depth = 0; depth < (isCycle ? names.length - 1 : 5_000); depth += 1) {
            const next: Record<string, unknown> = {};
            inner[names[depth % names.length] ?? ''] = next;
            inner = next;
          }
          if (isCycle) inner[names.at(-1) ?? ''] = root;
          const { message, help, field } = refusal(root);
          expect(message).toMatch(isCycle ? /is a reference cycle$/ : /is nested deeper than 200 levels$/);
          expect(message.length).toBeLessThan(1_300);
          expect(message.startsWith(`${field} is `)).toBe(true);
          expect(help).toMatch(isCycle ? /must not contain itself/ : /Make it flatter/);
        },
      ),
    );
    const tail: unknown[] = [];
    tail.push({ back: tail });
    expect(refusal({ ok: 1, deep: [tail] }).field).toBe('output.deep[0][0].back');
  });

  test('depth is allowed up to the limit and refused beyond it', () => {
    expect(toJsonText(nested(MAX_JSON_DEPTH), 'output')).toContain('core');
    expect(refusal(nested(MAX_JSON_DEPTH + 1)).message).toContain(`deeper than ${MAX_JSON_DEPTH} levels`);
  });

  test('only nesting counts as depth, not the number of values', () => {
    const wide = Array.from({ length: MAX_JSON_DEPTH * 2 }, (_, index) => ({ index, of: [index] }));
    expect(JSON.parse(toJsonText(wide, 'output'))).toEqual(wide);
  });

  test('a getter that throws, or changes its answer, is refused and not stored', () => {
    const cause = new Error('lazy');
    const throwing = Object.defineProperty({}, 'x', {
      enumerable: true,
      get: () => {
        throw cause;
      },
    });
    expect(refusal(throwing).cause).toBe(cause);
    let reads = 0;
    const fickle = Object.defineProperty({}, 'x', {
      enumerable: true,
      get: () => (++reads > 1 ? Number.NaN : 1),
    });
    expect(refusal(fickle).code).toBe('INVALID_INPUT');
  });

  test('a getter that becomes a function is refused, because its text could not be parsed', () => {
    let looks = 0;
    const fickle = {
      get a() {
        looks += 1;
        return looks === 1 ? 1 : () => 1;
      },
    };
    expect(refusal([fickle])).toMatchObject({ code: 'INVALID_INPUT', field: 'output' });
    expect(toJsonText({ ':undefined': '{:undefined}' }, 'output')).toBe('{":undefined":"{:undefined}"}');
  });

  test('a getter that throws a value without text is refused', () => {
    const bare = {
      get a(): never {
        throw Object.create(null);
      },
    };
    expect(refusal(bare).message).toMatch(/could not be read as JSON/);
  });

  test('every accepted value is stored unchanged: serialising its parsed text gives the same text', () => {
    fc.assert(
      fc.property(
        fc.anything({ withDate: true, withMap: true, withBigInt: true, withSparseArray: true }),
        (value) => {
          let text: string;
          try {
            text = toJsonText(value, 'output');
          } catch (error) {
            expect(error).toBeInstanceOf(CairnError);
            return;
          }
          expect(toJsonText(JSON.parse(text), 'output')).toBe(text);
          if (value !== undefined) expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        },
      ),
      { numRuns: 500 },
    );
  });
});
