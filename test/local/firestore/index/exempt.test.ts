import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type IndexConfig,
  type IndexesFile,
  readIndexConfig,
} from '../../../../packages/local-firestore/src/model/index/index-config.ts';
import { entryDifference } from '../../../../packages/local-firestore/src/model/index/index-entries.ts';
import type { Fields, Value } from '../../../../packages/local-firestore/src/model/value.ts';

const name = fc.constantFrom('a', 'b', 'a b', 'ab');
const override = fc.record({
  collectionGroup: fc.constant('c'),
  fieldPath: fc.oneof(
    fc.constant('*'),
    fc.array(name, { minLength: 1, maxLength: 3 }).map((path) => path.map((part) => `\`${part}\``).join('.')),
  ),
  indexes: fc.oneof(fc.constant([]), fc.constant([{ order: 'ASCENDING' }])),
});
const { value } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    fc.nat(2).map((n): Value => ({ kind: 'integer', value: BigInt(n) })),
    fc
      .array(fc.tuple(name, tie('value')), { maxLength: 3 })
      .map((members): Value => ({ kind: 'map', fields: new Map(members) })),
  ),
}));
const fields: fc.Arbitrary<Fields> = fc.array(fc.tuple(name, value)).map((members) => new Map(members));

/** The same indexes without the shortcut, so that every value is looked up. */
function withoutExemptions(config: IndexConfig): IndexConfig {
  return { ...config, isExempt: () => false };
}

test('a field is only passed over as exempt if no value in it has an index', () => {
  const document = { database: 1, segments: ['c', 'd'], isListed: true };
  const hex = (entries: readonly Buffer[]) => entries.map((entry) => entry.toString('hex'));
  let passedOver = 0;
  fc.assert(
    fc.property(fc.array(override), fields, fields, (fieldOverrides, before, after) => {
      const file: IndexesFile = { fieldOverrides };
      const config = readIndexConfig(file);
      const difference = (by: IndexConfig) => {
        const { added, removed } = entryDifference(by, document, { before, after });
        return [hex(added), hex(removed)];
      };
      for (const field of after.keys()) passedOver += Number(config.isExempt('c', field));
      expect(difference(config)).toEqual(difference(withoutExemptions(config)));
    }),
    { numRuns: 300 },
  );
  expect(passedOver).toBeGreaterThan(50);
});
