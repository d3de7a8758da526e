import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ByteWriter, prefixEnd } from '../../../packages/local-firestore/src/model/byte-writer.ts';
import { documentKey } from '../../../packages/local-firestore/src/model/document-key.ts';
import {
  formatFieldPath,
  getField,
  overlay,
  parseFieldPath,
  project,
  withField,
} from '../../../packages/local-firestore/src/model/field-path.ts';
import { AUTOMATIC_INDEXES } from '../../../packages/local-firestore/src/model/index/index-config.ts';
import { entryDifference } from '../../../packages/local-firestore/src/model/index/index-entries.ts';
import { applyTransform } from '../../../packages/local-firestore/src/model/transform.ts';
import { compareUtf8 } from '../../../packages/local-firestore/src/model/utf8.ts';
import {
  compareSegments,
  compareValues,
  type Fields,
  identical,
  identicalFields,
  type Value,
} from '../../../packages/local-firestore/src/model/value.ts';
import { writeValueKey } from '../../../packages/local-firestore/src/model/value-key.ts';
import {
  decodeDocument,
  decodeStored,
  encodeBody,
  readTextField,
} from '../../../packages/local-firestore/src/wire/document-codec.ts';
import { projectedBody } from '../../../packages/local-firestore/src/wire/projection.ts';
import { decodeValue } from '../../../packages/local-firestore/src/wire/value-decoder.ts';
import { encodeValue } from '../../../packages/local-firestore/src/wire/value-encoder.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.constantFrom('', '\0', '\0\0', 'a', 'a\0', '\uffff', '🎉'),
);
const integer = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -3n, max: 3n }),
);
const double = fc.oneof(fc.double(), fc.constantFrom(0, -0, 1, 2 ** 53, 2 ** 63, -(2 ** 63), Number.NaN));
const seconds = fc.integer({ min: -62_135_596_800, max: 253_402_300_799 });
const leaf: fc.Arbitrary<Value> = fc.oneof(
  fc.constant<Value>({ kind: 'null' }),
  fc.boolean().map((value): Value => ({ kind: 'boolean', value })),
  integer.map((value): Value => ({ kind: 'integer', value })),
  double.map((value): Value => ({ kind: 'double', value })),
  fc
    .tuple(seconds, fc.nat(999_999))
    .map(([s, micros]): Value => ({ kind: 'timestamp', seconds: s, nanos: micros * 1000 })),
  text.map((value): Value => ({ kind: 'string', value })),
  fc.uint8Array({ maxLength: 3 }).map((bytes): Value => ({ kind: 'bytes', value: Buffer.from(bytes) })),
  fc
    .constantFrom('p/a', 'p/a/b/c', 'p/a!', 'p/__id2__', 'p/__id10__')
    .map((path): Value => ({ kind: 'reference', value: `projects/p/databases/d/documents/${path}` })),
  fc
    .tuple(fc.integer({ min: -90, max: 90 }), fc.integer({ min: -180, max: 180 }))
    .map(([latitude, longitude]): Value => ({ kind: 'geo', latitude, longitude })),
);
const name = fc.constantFrom('a', 'b', 'a b', '`', 'é', 'value');
const fieldsOf = (value: fc.Arbitrary<Value>) =>
  fc.array(fc.tuple(name, value), { maxLength: 3 }).map((entries): Fields => new Map(entries));
const flat = fc.oneof(
  leaf,
  fieldsOf(leaf).map((fields): Value => ({ kind: 'map', fields })),
);
const vector = fc
  .array(fc.double({ noNaN: true }), { minLength: 1, maxLength: 3 })
  .map((numbers) => numbers.map((number): Value => ({ kind: 'double', value: number })))
  .map((values): Value => {
    const mark = { kind: 'string', value: '__vector__' } as const;
    return {
      kind: 'map',
      fields: new Map<string, Value>([
        ['__type__', mark],
        ['value', { kind: 'array', values }],
      ]),
    };
  });
const value: fc.Arbitrary<Value> = fc.oneof(
  leaf,
  vector,
  fc.array(flat, { maxLength: 3 }).map((values): Value => ({ kind: 'array', values })),
  fieldsOf(fc.oneof(flat, vector)).map((fields): Value => ({ kind: 'map', fields })),
);

function key(of: Value, inverted = false): Buffer {
  const writer = new ByteWriter();
  writeValueKey(writer, of);
  if (inverted) writer.invertFrom(0);
  return writer.take();
}

describe('values', () => {
  test('keys sort as the values do, and inverted keys in reverse', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        const order = Math.sign(compareValues(a, b));
        expect(Buffer.compare(key(a), key(b))).toBe(order);
        expect(Buffer.compare(key(a, true), key(b, true)) + order).toBe(0);
      }),
      { numRuns: 3_000 },
    );
  });

  test('no key is a prefix of another, so that following bytes cannot change the order', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        const [x, y] = [key(a), key(b)];
        if (!x.equals(y)) expect(y.subarray(0, x.length).equals(x)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  test('their order is total', () => {
    fc.assert(
      fc.property(value, value, value, (a, b, c) => {
        expect(Math.sign(compareValues(a, b)) + Math.sign(compareValues(b, a))).toBe(0);
        if (compareValues(a, b) <= 0 && compareValues(b, c) <= 0)
          expect(compareValues(a, c)).toBeLessThanOrEqual(0);
      }),
      { numRuns: 2_000 },
    );
  });

  test('survive encoding', () => {
    fc.assert(
      fc.property(value, (a) => {
        expect(identical(decodeValue(encodeValue(a)), a)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test('an integer and a double of the same number are equal but not identical', () => {
    const [one, uno]: [Value, Value] = [
      { kind: 'integer', value: 1n },
      { kind: 'double', value: 1 },
    ];
    expect(compareValues(one, uno)).toBe(0);
    expect(identical(one, uno)).toBe(false);
    const large: Value = { kind: 'integer', value: 2n ** 53n + 1n };
    expect(compareValues(large, { kind: 'double', value: 2 ** 53 })).toBeGreaterThan(0);
  });
});

describe('transforms of arrays', () => {
  const path = ['list'];
  const elements = fc.array(value, { maxLength: 6 });
  const arrayOf = (values: readonly Value[]): Value => ({ kind: 'array', values });
  const has = (values: readonly Value[], one: Value) => values.some((v) => compareValues(v, one) === 0);

  test('add what no element equals, and remove what one equals', () => {
    fc.assert(
      fc.property(elements, elements, (current, values) => {
        const added: Value[] = [...current];
        for (const one of values) if (!has(added, one)) added.push(one);
        const append = applyTransform(arrayOf(current), { path, kind: 'append', values }, 0);
        expect(append.stored).toEqual(arrayOf(added));
        const remove = applyTransform(arrayOf(current), { path, kind: 'remove', values }, 0);
        expect(remove.stored).toEqual(arrayOf(current.filter((one) => !has(values, one))));
      }),
      { numRuns: 2_000 },
    );
  });

  test('read each element a few times, however many there are', () => {
    let reads = 0;
    const counted = (i: number): Value => ({
      kind: 'integer',
      get value() {
        reads += 1;
        return BigInt(i);
      },
    });
    const values = Array.from({ length: 1_000 }, (_, i) => counted(i));
    const { stored } = applyTransform(undefined, { path, kind: 'append', values }, 0);
    applyTransform(stored, { path, kind: 'append', values }, 0);
    applyTransform(stored, { path, kind: 'remove', values }, 0);
    expect(reads).toBeLessThan(20 * values.length);
  });
});

test('strings sort by their UTF-8 bytes', () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(compareUtf8(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
    { numRuns: 2_000 },
  );
});

test('document keys of a collection sort by id', () => {
  const id = fc.oneof(
    fc.constantFrom('__id1__', '__id-5__', '__id100__', 'a', 'a!', 'b'),
    fc.string({ minLength: 1, unit: 'binary' }),
  );
  fc.assert(
    fc.property(id, id, (a, b) => {
      const order = Buffer.compare(documentKey(1, ['c', a]), documentKey(1, ['c', b]));
      expect(order).toBe(Math.sign(compareSegments(a, b)));
    }),
    { numRuns: 2_000 },
  );
});

test('the end of a prefix sorts after all keys with the prefix and before greater ones', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1, maxLength: 4 }),
      fc.uint8Array({ maxLength: 4 }),
      (prefix, rest) => {
        const end = prefixEnd(prefix);
        if (!end) return expect(prefix.every((b) => b === 0xff)).toBe(true);
        expect(Buffer.compare(Buffer.concat([prefix, rest]), end)).toBe(-1);
        expect(Buffer.compare(end, prefix)).toBe(1);
      },
    ),
  );
});

describe('field paths', () => {
  test('a mask applies the same as its paths one after another', () => {
    const paths = fc.array(fc.array(name, { minLength: 1, maxLength: 3 }), { maxLength: 4 });
    fc.assert(
      fc.property(fieldsOf(value), fieldsOf(value), paths, (under, over, mask) => {
        const before = [...under];
        const oneByOne = mask.reduce((fields, path) => withField(fields, path, getField(over, path)), under);
        expect([...overlay(under, over, mask)]).toEqual([...oneByOne]);
        expect([...under]).toEqual(before);
      }),
    );
  });

  test('leave a document that can be read, whatever they set or delete, because none reaches into a vector', () => {
    const paths = fc.array(fc.array(name, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 });
    const read = (fields: Fields) => decodeDocument(encodeBody('name', fields)).fields;
    fc.assert(
      fc.property(fieldsOf(value), fieldsOf(value), paths, (under, over, mask) => {
        const masked = overlay(under, over, mask);
        expect(identicalFields(read(masked), masked)).toBe(true);
        for (const path of mask) {
          const value = getField(under, path);
          expect(identicalFields(withField(under, path, value), under) || value === undefined).toBe(true);
          const deleted = withField(under, path, undefined);
          expect(identicalFields(read(deleted), deleted)).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test('are parsed as they are printed', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 }),
        (path) => {
          expect(parseFieldPath(formatFieldPath(path))).toEqual(path);
        },
      ),
    );
  });

  test.each(['', '.', 'a.', '.a', 'a..b', '`a', 'a b', '1a', '`a`b', 'a-b'])('%j is none', (path) => {
    expect(() => parseFieldPath(path)).toThrow(expect.objectContaining({ code: 3 }));
  });

  test('are read back as set, and other fields are unchanged', () => {
    fc.assert(
      fc.property(
        fieldsOf(value),
        fc.array(name, { minLength: 1, maxLength: 3 }),
        value,
        (fields, path, set) => {
          const changed = withField(fields, path, set);
          expect(getField(changed, path)).toBe(set);
          for (const [key, old] of fields) if (key !== path[0]) expect(changed.get(key)).toBe(old);
          expect(getField(withField(changed, path, undefined), path)).toBeUndefined();
        },
      ),
    );
  });
});

test('the difference of index entries transforms those of one version into those of the next', () => {
  // Hexadecimal, because as UTF-8 text different bytes could become the same replacement character.
  const hex = (entry: Buffer) => entry.toString('hex');
  const document = { database: 1, segments: ['c', 'd'], isListed: true };
  const all = (fields: Fields | undefined) =>
    new Set(
      entryDifference(AUTOMATIC_INDEXES, document, { before: undefined, after: fields }).added.map(hex),
    );
  fc.assert(
    fc.property(fieldsOf(value), fieldsOf(value), (before, after) => {
      const { added, removed } = entryDifference(AUTOMATIC_INDEXES, document, { before, after });
      const result = all(before);
      for (const entry of removed) expect(result.delete(hex(entry))).toBe(true);
      for (const entry of added) {
        expect(result.has(hex(entry))).toBe(false);
        result.add(hex(entry));
      }
      expect(result).toEqual(all(after));
    }),
    { numRuns: 500 },
  );
});

test('index entries are counted of the whole document, and only of what is to be stored', () => {
  const document = { database: 1, segments: ['c', 'd'], isListed: false };
  const list = (length: number): Value => ({
    kind: 'array',
    values: Array.from({ length }, (_, i) => ({ kind: 'integer', value: BigInt(i) })),
  });
  const size = fc.oneof(fc.integer({ min: 0, max: 45_000 }), fc.constantFrom(19_990, 19_994, 19_998, 20_000));
  const version = fc.option(fc.tuple(size, size), { nil: undefined, freq: 10 });
  const fieldsFor = (sizes: readonly [number, number] | undefined): Fields | undefined =>
    sizes && new Map(sizes.map((length, i) => [`f${i}`, list(length)]));
  fc.assert(
    fc.property(version, version, fc.boolean(), (before, after, isUpdate) => {
      // An update that keeps the first list.
      const next = isUpdate && before && after ? ([before[0], after[1]] as const) : after;
      const versions = { before: fieldsFor(before), after: fieldsFor(next) };
      // Each field in both directions, each element of a list, the document's name.
      const count = next ? 2 * 2 + next[0] + next[1] + 1 : 0;
      const attempt = () => entryDifference(AUTOMATIC_INDEXES, document, versions);
      if (count > 40_000) expect(attempt).toThrow(`too many index entries: ${count},`);
      else expect(attempt).not.toThrow();
    }),
    { numRuns: 12 },
  );
});

test('selected fields can be read from a stored document', () => {
  fc.assert(
    fc.property(fieldsOf(value), fc.func(fc.boolean()), (fields, isWanted) => {
      const wanted = new Map([...fields].filter(([name]) => isWanted(name)));
      const found = decodeStored(encodeBody('name', fields), new Set(wanted.keys()));
      expect(found).toEqual({ name: 'name', fields: decodeDocument(encodeBody('name', wanted)).fields });
    }),
  );
});

test('unselected fields of a stored document are not decoded', () => {
  const fields = new Map([
    ['large', { kind: 'string', value: 'damaged' } as const],
    ['small', { kind: 'string', value: 'ok' } as const],
  ]);
  const body = encodeBody('name', fields);
  body[body.indexOf('damaged')] = 0xff;
  expect(() => decodeDocument(body)).toThrow('UTF-8');
  expect([...decodeStored(body, new Set(['small'])).fields.keys()]).toEqual(['small']);
});

test('a projection of a stored document equals the projection of its values', () => {
  const paths = fc.array(fc.array(name, { minLength: 1, maxLength: 3 }), { maxLength: 4 });
  fc.assert(
    fc.property(fieldsOf(value), paths, (fields, mask) => {
      const found = decodeDocument(projectedBody(encodeBody('name', fields), mask));
      expect(found).toMatchObject({ name: 'name', exact: true });
      expect(found.fields).toEqual(decodeDocument(encodeBody('name', project(fields, mask))).fields);
    }),
  );
});

test('field names are read unchanged, whatever was read before', () => {
  const names = fc.array(fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }), { minLength: 1 });
  fc.assert(
    fc.property(names, (all) => {
      for (const one of all) {
        fc.pre(!/^__.*__$/s.test(one) && one.isWellFormed());
        const { fields } = decodeDocument(encodeBody('name', new Map([[one, { kind: 'null' }]])));
        expect([...fields.keys()]).toEqual([one]);
      }
    }),
  );
});

test('one text field can be read from a stored document without the others', () => {
  fc.assert(
    fc.property(fieldsOf(value), text, (fields, id) => {
      const body = encodeBody(
        'name',
        new Map([...fields, ['runId', { kind: 'string', value: id } as const]]),
      );
      expect(readTextField(body, 'runId')).toBe(
        decodeDocument(body).fields.get('runId')?.kind === 'string' ? id : undefined,
      );
      expect(readTextField(encodeBody('name', fields), 'runId')).toBeUndefined();
    }),
  );
});
