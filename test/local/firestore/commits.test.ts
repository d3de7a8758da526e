import {
  type DocumentReference,
  FieldPath,
  FieldValue,
  Timestamp,
  type WriteBatch,
} from '@google-cloud/firestore';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Bench, startBench } from './support/client.ts';
import { RawCalls } from './support/raw-calls.ts';
import { commit, database, doc } from './support/requests.ts';

const ALREADY_EXISTS = 6;
const NOT_FOUND = 5;
const FAILED_PRECONDITION = 9;
const INVALID_ARGUMENT = 3;

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench.stop());

describe('a commit', () => {
  test('replaces a vector by a map where it sets a field within it, and neighbours can be read', async () => {
    const { db } = bench;
    const vector = FieldValue.vector([1, 2]);
    const c = db.collection('vectors');
    for (const id of ['set', 'transformed', 'deleted', 'neighbour']) await c.doc(id).set({ v: vector });
    await c.doc('set').update({ 'v.x': 1 });
    await c.doc('transformed').update({ 'v.n': FieldValue.increment(2) });
    await c.doc('deleted').update({ 'v.value': FieldValue.delete() });
    const all = (await c.get()).docs.map((d) => [d.id, d.get('v')]);
    expect(all).toEqual([
      ['deleted', vector],
      ['neighbour', vector],
      ['set', { x: 1 }],
      ['transformed', { n: 2 }],
    ]);
    expect((await c.orderBy('v.value').get()).size).toBe(0);
    expect((await c.where('v.value', 'array-contains', 1).get()).size).toBe(0);
    expect((await c.where('v', '==', vector).get()).size).toBe(2);
    expect((await c.select('v.value').get()).docs.map((d) => d.data())).toEqual([{}, {}, {}, {}]);
  });

  test('stores every type of value and returns it unchanged', async () => {
    const { db } = bench;
    const data = {
      nothing: null,
      yes: true,
      small: -1,
      large: Number.MAX_SAFE_INTEGER,
      half: 0.5,
      nan: Number.NaN,
      minusZero: -0,
      infinite: Number.NEGATIVE_INFINITY,
      text: 'mañana \u0000 🎉',
      bytes: Buffer.from([0, 255, 1]),
      time: new Timestamp(1_700_000_000, 123_456_000),
      before1970: new Timestamp(-1, 999_999_000),
      reference: db.doc('a/b'),
      list: [1, { deep: [2] }, 'three'],
      map: { 'odd key.with`tick': { x: null } },
      empty: {},
      none: [],
      vector: FieldValue.vector([1, 2, 3]),
    };
    await db.doc('values/all').set(data);
    const read = (await db.doc('values/all').get()).data();
    expect(read).toEqual(data);
  });

  test('truncates timestamps to microseconds', async () => {
    const ref = bench.db.doc('values/fine');
    await ref.set({ t: new Timestamp(5, 123_456_789) });
    expect((await ref.get()).get('t')).toEqual(new Timestamp(5, 123_456_000));
  });

  test('with a failing create applies nothing', async () => {
    const { db } = bench;
    await db.doc('atomic/there').set({ v: 1 });
    const batch = db.batch();
    batch.create(db.doc('atomic/new'), { v: 1 });
    batch.set(db.doc('atomic/other'), { v: 1 });
    batch.create(db.doc('atomic/there'), { v: 2 });
    await expect(batch.commit()).rejects.toMatchObject({ code: ALREADY_EXISTS });
    expect((await db.doc('atomic/new').get()).exists).toBe(false);
    expect((await db.doc('atomic/other').get()).exists).toBe(false);
    expect((await db.doc('atomic/there').get()).get('v')).toBe(1);
  });

  test('gives all its documents one update time, later than that of any earlier commit', async () => {
    const { db } = bench;
    let last = '';
    for (let i = 0; i < 50; i++) {
      const batch = db.batch();
      batch.set(db.doc('times/a'), { i });
      batch.set(db.doc(`times/b${i}`), { i });
      const [first, second] = await batch.commit();
      const time = stamp(first?.writeTime as Timestamp);
      expect(stamp(second?.writeTime as Timestamp)).toBe(time);
      expect(time > last).toBe(true);
      last = time;
    }
  });

  test('that changes nothing keeps the update time', async () => {
    const ref = bench.db.doc('noop/a');
    const first = await ref.set({ v: 1, m: { x: [1] } });
    const again = await ref.set({ m: { x: [1] }, v: 1 });
    expect(again.writeTime.isEqual(first.writeTime)).toBe(true);
    const snapshot = await ref.get();
    expect(snapshot.updateTime?.isEqual(first.writeTime)).toBe(true);
    const changed = await ref.set({ m: { x: [1] }, v: 1.5 });
    expect(changed.writeTime.isEqual(first.writeTime)).toBe(false);
    expect((await ref.get()).createTime?.isEqual(first.writeTime)).toBe(true);
  });

  test('sees the writes before it in the same commit', async () => {
    const { db } = bench;
    const ref = db.doc('order/a');
    const batch = db.batch();
    batch.create(ref, { n: 1 });
    batch.update(ref, { n: FieldValue.increment(5) });
    batch.update(ref, { m: 'x' });
    await batch.commit();
    expect((await ref.get()).data()).toEqual({ n: 6, m: 'x' });
    const replace = db.batch();
    replace.delete(ref);
    replace.create(ref, { fresh: true });
    await replace.commit();
    expect((await ref.get()).data()).toEqual({ fresh: true });
  });
});

describe('a precondition', () => {
  test.each([true, false])(
    'existence asked of a document that the same commit deletes is INVALID_ARGUMENT (it was there: %s)',
    async (existed) => {
      const ref = bench.db.doc(`pre/deleted-${existed}`);
      if (existed) await ref.set({ v: 1 });
      const batch = bench.db.batch().delete(ref).update(ref, { v: 2 });
      await expect(batch.commit()).rejects.toMatchObject({ code: INVALID_ARGUMENT });
      expect((await ref.get()).exists).toBe(existed);
    },
  );

  test('update of a missing document is NOT_FOUND', async () => {
    const update = bench.db.doc('pre/missing').update({ v: 1 });
    await expect(update).rejects.toMatchObject({ code: NOT_FOUND });
  });

  test('a different update time is FAILED_PRECONDITION and writes nothing', async () => {
    const ref = bench.db.doc('pre/time');
    const first = await ref.set({ v: 1 });
    const second = await ref.update({ v: 2 }, { lastUpdateTime: first.writeTime });
    await expect(ref.update({ v: 3 }, { lastUpdateTime: first.writeTime })).rejects.toMatchObject({
      code: FAILED_PRECONDITION,
    });
    await expect(ref.delete({ lastUpdateTime: first.writeTime })).rejects.toMatchObject({
      code: FAILED_PRECONDITION,
    });
    expect((await ref.get()).get('v')).toBe(2);
    await ref.delete({ lastUpdateTime: second.writeTime });
    expect((await ref.get()).exists).toBe(false);
  });

  test('delete with exists refuses a missing document, without it does not', async () => {
    const ref = bench.db.doc('pre/gone');
    await expect(ref.delete({ exists: true })).rejects.toMatchObject({ code: NOT_FOUND });
    await ref.delete();
  });
});

describe('a field mask', () => {
  test('changes only what it names, and deletes what it names without a value', async () => {
    const ref = bench.db.doc('mask/a');
    await ref.set({ keep: 1, gone: 2, map: { keep: 1, gone: 2, change: 3 } });
    await ref.update({
      gone: FieldValue.delete(),
      'map.gone': FieldValue.delete(),
      'map.change': 4,
      'new.deep': 5,
    });
    expect((await ref.get()).data()).toEqual({ keep: 1, map: { keep: 1, change: 4 }, new: { deep: 5 } });
  });

  test('merges a set into the existing document', async () => {
    const ref = bench.db.doc('mask/merge');
    await ref.set({ a: 1, m: { x: 1 } });
    await ref.set({ b: 2, m: { y: 2 } }, { merge: true });
    await ref.set({ a: 9, b: 9 }, { mergeFields: ['b'] });
    expect((await ref.get()).data()).toEqual({ a: 1, b: 9, m: { x: 1, y: 2 } });
  });

  test('may name a field and one within it: the containing field is replaced', async () => {
    const raw = new RawCalls(bench.server.host);
    const ref = bench.db.doc('mask/parent');
    const merge = async (fieldPaths: string[], fields: object) => {
      await ref.set({ a: { b: 1, c: 2 }, keep: true });
      const update = { update: { name: doc('mask/parent'), fields }, updateMask: { fieldPaths } };
      expect(await raw.call('Commit', commit(update))).toMatchObject({ code: 0 });
      return (await ref.get()).data();
    };
    const d = { mapValue: { fields: { b: { integerValue: 9 } } } };
    for (const paths of [
      ['a', 'a.b'],
      ['a.b', 'a'],
    ]) {
      expect(await merge(paths, { a: d })).toEqual({ a: { b: 9 }, keep: true });
      expect(await merge(paths, {})).toEqual({ keep: true });
    }
    raw.close();
  });

  test('quotes unusual fields with back-ticks', async () => {
    const ref = bench.db.doc('mask/odd');
    await ref.set({ 'a.b': 1, 'c`d': { '\\e': 2 } });
    await ref.update(new FieldPath('a.b'), 3, new FieldPath('c`d', '\\e'), 4);
    expect((await ref.get()).data()).toEqual({ 'a.b': 3, 'c`d': { '\\e': 4 } });
  });
});

describe('a transform', () => {
  test('sets one server time, in milliseconds, for the whole commit', async () => {
    const { db } = bench;
    const batch = db.batch();
    batch.set(db.doc('transform/t1'), {
      at: FieldValue.serverTimestamp(),
      deep: { at: FieldValue.serverTimestamp() },
    });
    batch.set(db.doc('transform/t2'), { at: FieldValue.serverTimestamp() });
    await batch.commit();
    const [one, two] = await db.getAll(db.doc('transform/t1'), db.doc('transform/t2'));
    expect(one?.get('at')).toEqual(two?.get('at'));
    expect(one?.get('deep.at')).toEqual(one?.get('at'));
    expect(one?.get('at').nanoseconds % 1_000_000).toBe(0);
  });

  test('increments integers and doubles, and starts from the operand if there is no number', async () => {
    const ref = bench.db.doc('transform/n');
    await ref.set({ i: 1, d: 1.5, s: 'text' });
    const by = (n: number) => FieldValue.increment(n);
    await ref.update({ i: by(2), d: by(1), s: by(7), missing: by(-3), 'm.x': by(1) });
    expect((await ref.get()).data()).toEqual({ i: 3, d: 2.5, s: 7, missing: -3, m: { x: 1 } });
  });

  test('adds and removes array elements by value', async () => {
    const ref = bench.db.doc('transform/a');
    await ref.set({ list: [1, { a: 1 }, 'x', 'x'] });
    await ref.update({ list: FieldValue.arrayUnion(1, { a: 1 }, 2, 2), fresh: FieldValue.arrayUnion('y') });
    expect((await ref.get()).data()).toEqual({ list: [1, { a: 1 }, 'x', 'x', 2], fresh: ['y'] });
    await ref.update({ list: FieldValue.arrayRemove('x', { a: 1 }), none: FieldValue.arrayRemove(1) });
    expect((await ref.get()).data()).toEqual({ list: [1, 2], fresh: ['y'], none: [] });
  });
});

test('a batch write reports each write separately', async () => {
  const { db } = bench;
  await db.doc('bulk/there').set({ v: 0 });
  const writer = db.bulkWriter();
  writer.onWriteError(() => false);
  const results = await Promise.allSettled([
    ...['a', 'b'].map((id) => writer.create(db.doc(`bulk/${id}`), { v: 1 })),
    writer.create(db.doc('bulk/there'), { v: 1 }),
    writer.update(db.doc('bulk/missing'), { v: 1 }),
    ...[writer.close()],
  ]);
  expect(results.map((r) => (r.status === 'rejected' ? r.reason.code : 'ok'))).toEqual([
    'ok',
    'ok',
    ALREADY_EXISTS,
    NOT_FOUND,
    'ok',
  ]);
  expect((await db.doc('bulk/a').get()).exists).toBe(true);
});

test.each<[string, (a: WriteBatch, ref: DocumentReference) => WriteBatch, number | undefined]>([
  ['a create after a create', (b, ref) => b.create(ref, {}).create(ref, {}), INVALID_ARGUMENT],
  ['a create after a set', (b, ref) => b.set(ref, {}).create(ref, {}), INVALID_ARGUMENT],
  ['a create after an update', (b, ref) => b.update(ref, { v: 1 }).create(ref, {}), INVALID_ARGUMENT],
  ['an update after a delete', (b, ref) => b.delete(ref).update(ref, { v: 1 }), INVALID_ARGUMENT],
  ['a create after a delete', (b, ref) => b.delete(ref).create(ref, {}), undefined],
  ['an update after a create', (b, ref) => b.create(ref, {}).update(ref, { v: 1 }), undefined],
])('in one commit, %s is decided before what is stored', async (_what, fill, code) => {
  const batch = fill(bench.db.batch(), bench.db.collection('pairs').doc()).commit();
  await (code === undefined ? batch : expect(batch).rejects.toMatchObject({ code }));
});

test('projects and databases are separate, and can be cleared separately', async () => {
  const other = bench.client('other-project');
  await bench.db.doc('shared/name').set({ mine: true });
  await other.doc('shared/name').set({ mine: false });
  expect((await bench.db.doc('shared/name').get()).get('mine')).toBe(true);
  bench.server.reset('other-project');
  expect((await other.doc('shared/name').get()).exists).toBe(false);
  expect((await bench.db.doc('shared/name').get()).exists).toBe(true);
});

test('ids of only underscores are not reserved', async () => {
  const ref = bench.db.doc('____/____');
  await ref.set({ v: 1 });
  expect((await bench.db.collection('____').get()).docs.map((d) => d.id)).toEqual(['____']);
  await expect(bench.db.doc('c/__x__').set({ v: 1 })).rejects.toMatchObject({ code: INVALID_ARGUMENT });
});

test.each([
  ['a reserved field name', { __name__x__: 1 }],
  ['maps nested deeper than 20 levels', nest(21)],
])('%s is refused', async (_what, data) => {
  await expect(bench.db.doc('bad/a').set(data)).rejects.toMatchObject({ code: INVALID_ARGUMENT });
});

test('an unsupported call returns UNIMPLEMENTED', async () => {
  const raw = new RawCalls(bench.server.host);
  const answer = await raw.call('ExecutePipeline', { database });
  raw.close();
  expect(answer).toMatchObject({ code: 12, details: expect.stringContaining('ExecutePipeline') });
});

function nest(levels: number): object {
  return levels === 0 ? {} : { m: nest(levels - 1) };
}

function stamp(time: Timestamp): string {
  return `${String(time.seconds).padStart(12, '0')}.${String(time.nanoseconds).padStart(9, '0')}`;
}
