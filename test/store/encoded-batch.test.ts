import { FieldValue, Timestamp } from '@google-cloud/firestore';
import { protos } from '@google-cloud/firestore-api';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { EncodedBatch } from '../../packages/cairn/src/store/commits/encoded-batch.ts';
import { increment } from '../../packages/cairn/src/store/commits/increment.ts';
import type { EncodedCommit, StoreBatch } from '../../packages/cairn/src/store/commits/store-batch.ts';
import { ObjectBatch } from './object-batch.ts';

type Writes = readonly protos.google.firestore.v1.IWrite[];

const path = 'runs/r';
const name = 'projects/p/databases/(default)/documents/runs/r';

/** Arbitraries of values that codecs write. */
const memberName = fc.string().filter((name) => name !== '__proto__');
const { memberArbitrary } = fc.letrec<{ memberArbitrary: unknown }>((tie) => ({
  memberArbitrary: fc.oneof(
    { maxDepth: 3 },
    fc.string(),
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.double(),
    fc.constant(null),
    fc
      .tuple(fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }), fc.nat(999_999_999))
      .map(([s, n]) => new Timestamp(s, n)),
    fc.array(fc.oneof(fc.string(), fc.maxSafeInteger(), fc.constant(null)), { maxLength: 3 }),
    fc.dictionary(memberName, tie('memberArbitrary'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

const DATABASE = 'projects/p/databases/(default)';

/** The encoded commit of a batch. */
async function encoded(fill: (batch: StoreBatch) => unknown): Promise<EncodedCommit> {
  const seen: EncodedCommit[] = [];
  const send = async (commit: EncodedCommit) => {
    seen.push(commit);
    return Array.from({ length: commit.writes }, (_, i) => new Timestamp(i, 0));
  };
  const batch = new EncodedBatch({ database: DATABASE, send });
  fill(batch);
  expect(await batch.commit()).toHaveLength(seen[0]?.writes ?? -1);
  return seen[0] as EncodedCommit;
}

/** The decoded writes, as JSON with enums as numbers. */
async function sent(fill: (batch: StoreBatch) => unknown): Promise<Writes> {
  const { CommitRequest } = protos.google.firestore.v1;
  const { bytes } = await encoded(fill);
  const { writes = [] } = CommitRequest.toObject(CommitRequest.decode(bytes), { longs: Number }) as {
    writes?: Writes;
  };
  return writes;
}

function asObjects(fill: (batch: StoreBatch) => unknown) {
  const batch = new ObjectBatch(DATABASE);
  fill(batch);
  return { database: DATABASE, writes: [...batch.writes] };
}

describe('a batch that encodes itself', () => {
  test('writes every kind of value the codecs produce', async () => {
    const at = new Timestamp(1_700_000_000, 5_000);
    const members = { t: 'x', i: 7, d: 0.5, b: true, n: null, at, m: { deep: 'y' }, l: ['a', 'b'] };
    const [write] = await sent((batch) => batch.set(path, members));
    expect(write).toEqual({
      update: {
        name,
        fields: {
          t: { stringValue: 'x' },
          i: { integerValue: 7 },
          d: { doubleValue: 0.5 },
          b: { booleanValue: true },
          n: { nullValue: 0 },
          at: { timestampValue: { seconds: 1_700_000_000, nanos: 5_000 } },
          m: { mapValue: { fields: { deep: { stringValue: 'y' } } } },
          l: { arrayValue: { values: [{ stringValue: 'a' }, { stringValue: 'b' }] } },
        },
      },
    });
  });

  test('creates documents under the condition that they do not exist', async () => {
    const [write] = await sent((batch) => batch.create(path, {}));
    expect(write?.currentDocument).toEqual({ exists: false });
  });

  test('updates the fields of the mask, deletes those without a value, and sets server times', async () => {
    const members = {
      kept: 1,
      gone: FieldValue.delete(),
      'soft.leaseExtendedTo': 2,
      'soft.until': 3,
      'soft.lastHeartbeatAt': FieldValue.serverTimestamp(),
    };
    const [write] = await sent((batch) => batch.update(path, members));
    expect(write).toEqual({
      update: {
        name,
        fields: {
          kept: { integerValue: 1 },
          soft: {
            mapValue: { fields: { leaseExtendedTo: { integerValue: 2 }, until: { integerValue: 3 } } },
          },
        },
      },
      updateMask: { fieldPaths: ['kept', 'gone', 'soft.leaseExtendedTo', 'soft.until'] },
      updateTransforms: [{ fieldPath: 'soft.lastHeartbeatAt', setToServerValue: 1 }],
      currentDocument: { exists: true },
    });
  });

  test('increments existing values as the client library does', async () => {
    const [write] = await sent((batch) => batch.update(path, { 'soft.cost.reads': increment(7), kept: 1 }));
    expect(write).toMatchObject({
      update: { name, fields: { kept: { integerValue: 1 } } },
      updateMask: { fieldPaths: ['kept'] },
      updateTransforms: [{ fieldPath: 'soft.cost.reads', increment: { integerValue: 7 } }],
    });
  });

  test('is encoded to the same bytes with and without fromObject, which the client libraries call', async () => {
    const { CommitRequest } = protos.google.firestore.v1;
    const members = fc.dictionary(memberName, memberArbitrary, { maxKeys: 6, noNullPrototype: true });
    const plainNames = fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), memberArbitrary, {
      maxKeys: 6,
      noNullPrototype: true,
    });
    await fc.assert(
      fc.asyncProperty(members, plainNames, async (whole, some) => {
        const fill = (batch: StoreBatch) => {
          batch.create(path, whole);
          batch.set(path, whole);
          batch.update(path, { ...some, gone: FieldValue.delete(), at: FieldValue.serverTimestamp() });
          batch.update(
            path,
            { 'soft.reads': increment(3), ...some, 'soft.a': whole, 'soft.b': 1, 'more.c': -3 },
            { lastUpdateTime: new Timestamp(3, 4_000) },
          );
          batch.delete(path);
        };
        const request = asObjects(fill);
        const bytes = Buffer.from(CommitRequest.encode(request).finish());
        expect(bytes).toEqual(Buffer.from(CommitRequest.encode(CommitRequest.fromObject(request)).finish()));
        const commit = await encoded(fill);
        expect(Buffer.from(commit.bytes)).toEqual(bytes);
        expect([commit.writes, commit.deletes]).toEqual([5, 1]);
      }),
    );
  });

  test('updates only the last seen version, if requested', async () => {
    const lastUpdateTime = new Timestamp(3, 4_000);
    const [write] = await sent((batch) => batch.update(path, { a: 1 }, { lastUpdateTime }));
    expect(write?.currentDocument).toEqual({ updateTime: { seconds: 3, nanos: 4_000 } });
  });

  test.each([
    ['undefined', undefined],
    ['a date', new Date(0)],
    ['a function', () => 0],
    ['a transform of a whole document', FieldValue.increment(1)],
  ])('refuses %s before anything is sent', (_what, member) => {
    const send = () => Promise.reject(new Error('sent'));
    const batch = new EncodedBatch({ database: 'd', send });
    for (const members of [{ member }, { deep: { member } }])
      expect(() => batch.set(path, members)).toThrow("member 'member' has a kind that no codec writes");
  });

  test('a refused write has no effect on the next one', async () => {
    const good = (batch: StoreBatch) => batch.set(path, { a: 'x' });
    const expected = await encoded(good);
    const found = await encoded((batch) => {
      expect(() => batch.set(path, { a: 'y', b: undefined })).toThrow('no codec writes');
      good(batch);
    });
    expect(found).toEqual(expected);
  });

  test.each([0, 1, 63, 64, 127, 128, 16_383, 16_384, 70_000, 1_100_000])(
    'writes text of %i characters, in one byte or more, as the protocol does',
    async (length) => {
      const { CommitRequest } = protos.google.firestore.v1;
      for (const character of ['a', 'ä', '€']) {
        const fill = (batch: StoreBatch) => batch.set(path, { text: character.repeat(length), after: 7 });
        const request = asObjects(fill);
        expect(Buffer.from(CommitRequest.encode(request).finish()).equals((await encoded(fill)).bytes)).toBe(
          true,
        );
      }
    },
  );
});
