import type { CollectionReference } from '@google-cloud/firestore';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type Bench, startBench } from '../support/client.ts';
import { database, doc } from '../support/requests.ts';
import { brief, type Message, RawStream } from './raw-stream.ts';
import { nobodyListens } from './seen.ts';

let bench: Bench;
let streams: RawStream[] = [];
let collections = 0;

beforeAll(async () => {
  bench = await startBench();
});
afterEach(async () => {
  for (const stream of streams) stream.close();
  streams = [];
  await nobodyListens(bench.server);
});
afterAll(() => bench.stop());

function open(): RawStream {
  const stream = new RawStream(bench.server.host);
  streams.push(stream);
  return stream;
}

/** A new collection. */
function fresh(): { list: CollectionReference; id: string } {
  const id = `p${++collections}`;
  return { list: bench.db.collection(id), id };
}

const parent = `${database}/documents`;
const queryOf = (collectionId: string, more: object = {}) => ({
  query: { parent, structuredQuery: { from: [{ collectionId }], ...more } },
});
const documents = (...paths: string[]) => ({ documents: { documents: paths.map(doc) } });
const tokenOf = (messages: readonly Message[]) => messages.at(-1)?.targetChange?.resumeToken;
const atMost = (value: number) => ({
  where: {
    fieldFilter: { field: { fieldPath: 'v' }, op: 'LESS_THAN_OR_EQUAL', value: { integerValue: value } },
  },
});

describe('one stream', () => {
  test('sends a document once for several targets, and each target its removals', async () => {
    const { list, id } = fresh();
    await list.doc('a').set({ v: 1 });
    const stream = open();
    stream.add({ targetId: 1, ...queryOf(id) });
    expect((await stream.moment()).map(brief)).toEqual([
      'ADD 1',
      `shown ${id}/a 1`,
      'filter 1 1',
      'CURRENT 1',
      'NO_CHANGE',
    ]);
    stream.add({ targetId: 2, ...queryOf(id, atMost(5)) });
    expect((await stream.moment()).map(brief)).toEqual([
      'ADD 2',
      `shown ${id}/a 2`,
      'filter 2 1',
      'CURRENT 2',
      'NO_CHANGE',
    ]);
    stream.add({ targetId: 3, ...documents(`${id}/a`, `${id}/z`) });
    expect((await stream.moment()).map(brief)).toEqual([
      'ADD 3',
      `shown ${id}/a 3`,
      `deleted ${id}/z -3`,
      'CURRENT 3',
      'NO_CHANGE',
    ]);
    await list.doc('a').update({ v: 9 });
    expect((await stream.moment()).map(brief)).toEqual([`shown ${id}/a 1 3 -2`, 'NO_CHANGE']);
    await list.doc('a').delete();
    expect((await stream.moment()).map(brief)).toEqual([`deleted ${id}/a -1 -3`, 'NO_CHANGE']);
    stream.remove(1);
    expect((await stream.moment()).map(brief)).toEqual(['REMOVE 1', 'NO_CHANGE']);
    await list.doc('a').set({ v: 9 });
    expect((await stream.moment()).map(brief)).toEqual([`shown ${id}/a 3`, 'NO_CHANGE']);
  });

  test('reports a document pushed out of a limit without sending it', async () => {
    const { list, id } = fresh();
    await list.doc('b').set({});
    const stream = open();
    stream.add({ targetId: 1, ...queryOf(id, { limit: { value: 1 } }) });
    await stream.moment();
    await list.doc('a').set({});
    expect((await stream.moment()).map(brief).sort()).toEqual([
      'NO_CHANGE',
      `out ${id}/b -1`,
      `shown ${id}/a 1`,
    ]);
  });

  test('follows documents behind an offset', async () => {
    const { list, id } = fresh();
    for (const name of ['a', 'b', 'c']) await list.doc(name).set({});
    const stream = open();
    stream.add({ targetId: 1, ...queryOf(id, { offset: 1, limit: { value: 1 } }) });
    expect((await stream.moment()).map(brief)).toContain(`shown ${id}/b 1`);
    await list.doc('a').delete();
    expect((await stream.moment()).map(brief).sort()).toEqual([
      'NO_CHANGE',
      `out ${id}/b -1`,
      `shown ${id}/c 1`,
    ]);
  });

  test('has growing read times and resume tokens', async () => {
    const { list, id } = fresh();
    const stream = open();
    stream.add({ targetId: 1, ...queryOf(id) });
    await stream.moment();
    for (let i = 0; i < 5; i++) {
      await list.doc('a').set({ i });
      await stream.moment();
    }
    const times = stream.seen.all.flatMap(({ targetChange: { readTime } = {} }) =>
      readTime ? [readTime.seconds * 1e6 + readTime.nanos / 1000] : [],
    );
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(new Set(times).size).toBeGreaterThanOrEqual(6);
  });

  test('ends a one-time target once it is current', async () => {
    const { list, id } = fresh();
    await list.doc('a').set({});
    const stream = open();
    stream.add({ targetId: 7, once: true, ...queryOf(id) });
    await stream.seen.until((all) => all.length === 6);
    expect(stream.seen.all.map(brief)).toEqual([
      'ADD 7',
      `shown ${id}/a 7`,
      'filter 7 1',
      'CURRENT 7',
      'NO_CHANGE',
      'REMOVE 7',
    ]);
  });

  test('assigns an id to a target without one, and then refuses targets with ids', async () => {
    const { id } = fresh();
    const stream = open();
    stream.add({ targetId: 1, ...queryOf(id) });
    await stream.moment();
    stream.add(queryOf(id));
    expect((await stream.moment()).map(brief)).toEqual(['ADD 2', 'filter 2 0', 'CURRENT 2', 'NO_CHANGE']);
    stream.add({ targetId: 3, ...queryOf(id) });
    const refused = (await stream.moment()).find((m) => m.targetChange?.targetChangeType === 'REMOVE');
    expect(refused?.targetChange).toMatchObject({ targetIds: [3], cause: { code: 3 } });
  });

  test.each<[string, object, number, RegExp]>([
    [
      'a name of another database',
      { documents: { documents: ['projects/x/databases/y/documents/a/b'] } },
      3,
      /x/,
    ],
    ['no documents', { documents: {} }, 3, /at least one/],
    ['a query without a collection', { query: { parent, structuredQuery: {} } }, 3, /from/],
    ['a projection', queryOf('x', { select: { fields: [{ fieldPath: 'v' }] } }), 3, /'select' clauses/],
    ['a read time to come', { ...documents('a/b'), readTime: { seconds: 9e9 } }, 3, /future/],
  ])('refuses a target with %s and goes on with the others', async (_what, target, code, message) => {
    const { list, id } = fresh();
    const stream = open();
    stream.add({ targetId: 1, ...queryOf(id) });
    await stream.moment();
    stream.add({ targetId: 2, ...target });
    const refused = (await stream.moment()).find((m) => m.targetChange?.targetChangeType === 'REMOVE');
    expect(refused?.targetChange).toMatchObject({ targetIds: [2], cause: { code } });
    expect(refused?.targetChange?.cause?.message).toMatch(message);
    await list.doc('a').set({});
    expect((await stream.moment()).map(brief)).toEqual([`shown ${id}/a 1`, 'NO_CHANGE']);
  });

  test.each<[string, object]>([
    ['names no database', { addTarget: { targetId: 1, ...queryOf('x') } }],
    ['neither adds nor removes', { database }],
    ['has a negative target', { database, addTarget: { targetId: -1, ...queryOf('x') } }],
  ])('ends when a request %s', async (_what, request) => {
    const stream = open();
    stream.send(request);
    await expect(stream.seen.refusal()).resolves.toMatchObject({ code: 3 });
  });

  test('ends when a target is added twice', async () => {
    const stream = open();
    stream.add({ targetId: 1, ...queryOf('x') });
    stream.add({ targetId: 1, ...queryOf('x') });
    await expect(stream.seen.refusal()).resolves.toMatchObject({ code: 3 });
  });
});

describe('a target that resumes', () => {
  test.each(['token', 'read time'])('by %s is shown what changed since, and nothing else', async (how) => {
    const { list, id } = fresh();
    for (const name of ['a', 'b', 'c']) await list.doc(name).set({ v: 1 });
    const stream = open();
    stream.add({ targetId: 1, ...queryOf(id, atMost(5)) });
    const before = (await stream.moment()).at(-1)?.targetChange;
    const since = how === 'token' ? { resumeToken: before?.resumeToken } : { readTime: before?.readTime };
    await list.doc('a').update({ v: 2 });
    await list.doc('b').delete();
    await list.doc('d').set({ v: 1 });
    await list.doc('e').set({ v: 9 });
    const second = open();
    second.add({ targetId: 4, ...queryOf(id, atMost(5)), ...since });
    expect((await second.moment()).map(brief)).toEqual([
      'ADD 4',
      `deleted ${id}/b -4`,
      `shown ${id}/d 4`,
      `shown ${id}/a 4`,
      'CURRENT 4',
      'NO_CHANGE',
    ]);
  });

  test('gets the document count if the client expects another', async () => {
    const { list, id } = fresh();
    for (const name of ['a', 'b']) await list.doc(name).set({});
    const stream = open();
    stream.add({ targetId: 1, ...queryOf(id) });
    const resumeToken = tokenOf(await stream.moment());
    stream.add({ targetId: 2, ...queryOf(id), resumeToken, expectedCount: { value: 2 } });
    expect((await stream.moment()).map(brief)).toEqual(['ADD 2', 'CURRENT 2', 'NO_CHANGE']);
    stream.add({ targetId: 3, ...queryOf(id), resumeToken, expectedCount: { value: 5 } });
    expect((await stream.moment()).map(brief)).toEqual(['ADD 3', 'filter 3 2', 'CURRENT 3', 'NO_CHANGE']);
  });

  test('gets no document count if the client expects that of the token, whatever has changed since', async () => {
    const { list, id } = fresh();
    for (const name of ['a', 'b']) await list.doc(name).set({});
    const stream = open();
    stream.add({ targetId: 1, ...queryOf(id) });
    const resumeToken = tokenOf(await stream.moment());
    await list.doc('c').set({});
    await list.doc('d').set({});
    await list.doc('a').delete();
    await stream.moment();
    stream.add({ targetId: 2, ...queryOf(id), resumeToken, expectedCount: { value: 2 } });
    stream.add({ targetId: 3, ...documents(`${id}/a`), resumeToken, expectedCount: { value: 1 } });
    await stream.seen.until((all) => all.map(brief).includes('CURRENT 3'));
    expect(stream.seen.all.map(brief)).toContain(`deleted ${id}/a -3`);
    // A count of 0 would make clients of browsers and phones forget that they know of the deletion.
    expect(stream.seen.all.map(brief)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^filter [23]/)]),
    );
  });

  test('by a token of another server is reset and gets everything', async () => {
    const { list, id } = fresh();
    await list.doc('a').set({});
    const stream = open();
    stream.add({ targetId: 1, ...queryOf(id), resumeToken: Buffer.from([10, 9, 8, 173, 198]) });
    expect((await stream.moment()).map(brief)).toEqual([
      'ADD 1',
      'RESET 1',
      `shown ${id}/a 1`,
      'CURRENT 1',
      'NO_CHANGE',
    ]);
  });

  test('from before the retained history is reset and gets everything', async () => {
    const { list, id } = fresh();
    await list.doc('a').set({});
    const stream = open();
    stream.add({ targetId: 1, ...queryOf(id) });
    const resumeToken = tokenOf(await stream.moment());
    await list.doc('b').set({});
    await stream.moment();
    const blob = 'x'.repeat(900_000);
    // Replaces enough megabytes of documents to drop the moment of the token from the history.
    const large = fresh().list;
    for (let written = 0; written < 20; written++) await large.doc('one').set({ blob, written });
    stream.add({ targetId: 2, ...queryOf(id), resumeToken });
    expect((await stream.moment()).map(brief)).toEqual([
      'ADD 2',
      'RESET 2',
      `shown ${id}/a 2`,
      `shown ${id}/b 2`,
      'CURRENT 2',
      'NO_CHANGE',
    ]);
  });
});

test('a listener is billed for the documents it gets, and one read for an empty result', async () => {
  const { list, id } = fresh();
  const reads = () => bench.server.meter.snapshot().byCall.Listen?.reads ?? 0;
  await list.doc('a').set({ v: 1 });
  const stream = open();
  const before = reads();
  stream.add({ targetId: 1, ...queryOf(id) });
  await stream.moment();
  expect(reads() - before).toBe(1);
  await list.doc('a').update({ v: 2 });
  await stream.moment();
  expect(reads() - before).toBe(2);
  stream.add({ targetId: 2, ...queryOf(fresh().id) });
  await stream.moment();
  expect(reads() - before).toBe(3);
});

test('a client that stops reading gets the newest version when it reads again, without those in between', async () => {
  const { list, id } = fresh();
  const stream = open();
  stream.add({ targetId: 1, ...queryOf(id) });
  await stream.moment();
  stream.pause();
  const blob = 'x'.repeat(500_000);
  const rounds = 40;
  for (let i = 1; i <= rounds; i++) await list.doc('a').set({ i, blob });
  stream.resume();
  const from = stream.seen.all.length;
  await list.doc('last').set({});
  await stream.seen.until((all) => all.some((m) => brief(m) === `shown ${id}/last 1`));
  const versions = stream.seen.all.slice(from).filter((m) => brief(m) === `shown ${id}/a 1`);
  expect(versions.length).toBeLessThan(rounds);
  expect(versions.at(-1)?.documentChange?.document).toMatchObject({
    fields: { i: { integerValue: rounds } },
  });
});
