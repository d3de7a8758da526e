import { v1 } from '@google-cloud/firestore-api';
import { type ClientDuplexStream, credentials } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { listenToDocument, Seen } from '../listen/seen.ts';
import { type Bench, PROJECT, startBench } from '../support/client.ts';
import { doc, one, database as root, set, text } from '../support/requests.ts';

const INVALID_ARGUMENT = 3;
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const ABORTED = 10;
const UNAVAILABLE = 14;

interface Answer {
  readonly streamId: string;
  readonly streamToken: Buffer;
  readonly writeResults: readonly {
    readonly updateTime: object | null;
    readonly transformResults: object[];
  }[];
  readonly commitTime: { readonly seconds: string; readonly nanos: number } | null;
}

let bench: Bench;
let client: v1.FirestoreClient;
const open: WriteStream[] = [];

beforeAll(async () => {
  bench = await startBench();
  const [servicePath, port] = bench.server.host.split(':');
  client = new v1.FirestoreClient({
    projectId: PROJECT,
    servicePath: servicePath as string,
    port: Number(port),
    sslCreds: credentials.createInsecure(),
  });
  await client.initialize();
});
afterEach(() => {
  for (const stream of open.splice(0)) stream.cut();
  bench.server.faults.clear();
});
afterAll(async () => {
  await client.close();
  await bench.stop();
});

/** A write stream of the unmodified client. */
class WriteStream {
  readonly seen = new Seen<Answer>();
  readonly ended: Promise<void>;
  readonly #stream: ClientDuplexStream<object, Answer>;

  constructor() {
    this.#stream = client.write() as never;
    this.#stream.on('data', (answer: Answer) => this.seen.push(answer));
    this.#stream.on('error', (error: Error) => this.seen.fail(error));
    this.ended = new Promise((resolve) => this.#stream.on('end', resolve));
    open.push(this);
  }

  send(request: object): void {
    this.#stream.write(request);
  }

  end(): void {
    this.#stream.end();
  }

  cut(): void {
    this.#stream.cancel();
  }

  async answers(count: number): Promise<readonly Answer[]> {
    await this.seen.until((all) => all.length >= count);
    return this.seen.all;
  }

  /** Begins or resumes a stream. */
  async greet(more: object = {}): Promise<Answer> {
    this.send({ database: root, ...more });
    const [greeting] = await this.answers(1);
    return greeting as Answer;
  }
}

const bump = (path: string) => ({
  ...set(path, {}),
  updateMask: { fieldPaths: [] },
  updateTransforms: [{ fieldPath: 'n', increment: one }],
});
const fieldsOf = async (path: string) => (await bench.db.doc(path).get()).data();

test('writes are applied one after the other and answered in that order, transforms included', async () => {
  const stream = new WriteStream();
  const greeting = await stream.greet();
  expect(greeting).toMatchObject({
    streamId: expect.stringMatching(/./),
    writeResults: [],
    commitTime: null,
  });
  const streamToken = greeting.streamToken;
  for (let i = 0; i < 20; i++) stream.send({ streamToken, writes: [bump('w/counter'), set(`w/d${i}`)] });
  const [, ...answers] = await stream.answers(21);
  const counts = answers.map(({ writeResults }) => writeResults[0]?.transformResults);
  expect(counts).toEqual(answers.map((_, i) => [expect.objectContaining({ integerValue: String(i + 1) })]));
  expect(answers.every(({ streamId }) => streamId === '')).toBe(true);
  const times = answers.map((a) => Number(a.commitTime?.seconds) * 1e9 + Number(a.commitTime?.nanos));
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(new Set(answers.map((a) => a.streamToken.toString())).size).toBe(20);
  expect(await fieldsOf('w/counter')).toEqual({ n: 20 });
});

test('one request is atomic, and a refused one ends the stream without applying later ones', async () => {
  await bench.db.doc('w/there').set({});
  const stream = new WriteStream();
  const { streamToken } = await stream.greet();
  const create = { ...set('w/there'), currentDocument: { exists: false } };
  stream.send({ streamToken, writes: [set('w/first')] });
  stream.send({ streamToken, writes: [set('w/with'), create] });
  stream.send({ streamToken, writes: [set('w/after')] });
  await expect(stream.answers(3)).rejects.toMatchObject({ code: ALREADY_EXISTS });
  expect(stream.seen.all.length).toBe(2);
  const found = await bench.db.getAll(...['first', 'with', 'after'].map((id) => bench.db.doc(`w/${id}`)));
  expect(found.map((d) => d.exists)).toEqual([true, false, false]);
});

test('a client that ends the stream gets the responses to its earlier writes', async () => {
  const stream = new WriteStream();
  const { streamToken } = await stream.greet();
  stream.send({ streamToken, writes: [set('w/last')] });
  stream.send({ streamToken, writes: [] });
  stream.end();
  await stream.ended;
  expect(stream.seen.all.map((a) => a.writeResults.length)).toEqual([0, 1, 0]);
});

test('a request without writes is the last: it is answered by a token, and the stream ends before later writes', async () => {
  const stream = new WriteStream();
  const { streamId, streamToken } = await stream.greet();
  for (const writes of [[set('w/kept')], [], [set('w/too-late')]]) stream.send({ streamToken, writes });
  await stream.ended;
  const tokens = stream.seen.all.map((answer) => answer.streamToken.toString());
  expect(tokens).toEqual([tokens[0], tokens[1], tokens[1]]);
  expect([await fieldsOf('w/kept'), await fieldsOf('w/too-late')]).toEqual([{ a: 1 }, undefined]);
  const again = new WriteStream();
  await again.greet({ streamId, streamToken: stream.seen.all[2]?.streamToken });
  again.send({ writes: [set('w/resumed')] });
  expect((await again.answers(2))[1]?.writeResults).toHaveLength(1);
});

test('writes are visible to listeners and billed as writes', async () => {
  const shown = listenToDocument(bench.db.doc('w/seen'));
  const stream = new WriteStream();
  const { streamToken } = await stream.greet();
  const before = bench.server.meter.snapshot().byCall.Write?.writes ?? 0;
  stream.send({ streamToken, writes: [set('w/seen', { a: text('x') }), set('w/other')] });
  await stream.answers(2);
  expect(bench.server.meter.snapshot().byCall.Write?.writes).toBe(before + 2);
  await shown.until((all) => all.some(({ data }) => JSON.stringify(data) === '{"a":"x"}'));
  shown.stop();
});

describe('a stream that is resumed', () => {
  test.each(['lost-answer', 'cut-stream'] as const)('gets the results of its writes (%s)', async (kind) => {
    const path = `w/resumed-${kind}`;
    const first = new WriteStream();
    const { streamId, streamToken } = await first.greet();
    first.send({ streamToken, writes: [bump(path)] });
    const known = (await first.answers(2))[1]?.streamToken as Buffer;
    const fault = kind === 'cut-stream' ? ({ kind, afterMessages: 0 } as const) : ({ kind } as const);
    bench.server.faults.set([{ call: 'Write', path: 'w/', probability: 1, times: 1, fault }], 1);
    first.send({ streamToken: known, writes: [bump(path)] });
    await expect(first.answers(3)).rejects.toMatchObject({ code: UNAVAILABLE });

    const second = new WriteStream();
    await second.greet({ streamId, streamToken: known });
    const [greeting, again] = (await second.answers(2)) as [Answer, Answer];
    expect({ id: greeting.streamId, results: greeting.writeResults }).toEqual({ id: '', results: [] });
    expect(again.writeResults[0]?.transformResults).toMatchObject([{ integerValue: '2' }]);
    second.send({ streamToken: again.streamToken, writes: [bump(path)] });
    const [, , next] = await second.answers(3);
    expect(next?.writeResults[0]?.transformResults).toMatchObject([{ integerValue: '3' }]);
    expect(await fieldsOf(path)).toEqual({ n: 3 });

    const third = new WriteStream();
    await third.greet({ streamId, streamToken: next?.streamToken });
    third.send({ writes: [bump(path)] });
    expect((await third.answers(2))[1]?.writeResults[0]?.transformResults).toMatchObject([
      { integerValue: '4' },
    ]);
  });

  test('is taken over from its former connection', async () => {
    const first = new WriteStream();
    const { streamId, streamToken } = await first.greet();
    await new WriteStream().greet({ streamId, streamToken });
    first.send({ streamToken, writes: [set('w/late')] });
    await expect(first.answers(2)).rejects.toMatchObject({ code: ABORTED });
    expect(await fieldsOf('w/late')).toBeUndefined();
  });

  test('must be known, of the same database, and at a token that is not outdated', async () => {
    const stream = new WriteStream();
    const { streamId, streamToken } = await stream.greet();
    stream.send({ streamToken, writes: [set('w/x')] });
    const [, { streamToken: passed }] = (await stream.answers(2)) as [Answer, Answer];
    stream.send({ streamToken: passed, writes: [set('w/x')] });
    await stream.answers(3);
    for (const [request, code] of [
      [{ streamId: 'unknown', streamToken }, NOT_FOUND],
      [{ streamId, streamToken, database: root.replace(PROJECT, 'other') }, NOT_FOUND],
      [{ streamId, streamToken }, INVALID_ARGUMENT],
      [{ streamId, streamToken: Buffer.from(`${streamId} 99`) }, INVALID_ARGUMENT],
      [{ streamId }, INVALID_ARGUMENT],
      [{ streamToken }, INVALID_ARGUMENT],
    ] as const) {
      await expect(new WriteStream().greet(request)).rejects.toMatchObject({ code });
    }
  });
});

test.each<[string, object, object | undefined]>([
  ['no database', { database: '' }, undefined],
  ['writes in the first request', { writes: [set('w/x')] }, undefined],
  ['another database later', {}, { database: root.replace(PROJECT, 'other'), writes: [set('w/x')] }],
  ['a document of another database', {}, { writes: [{ delete: doc('w/x').replace(PROJECT, 'other') }] }],
  ['a token that was never given', {}, { streamToken: Buffer.from('x 1'), writes: [set('w/x')] }],
  ['a stream id later', {}, { streamId: 'x', writes: [set('w/x')] }],
])('%s ends the stream', async (_what, first, second) => {
  const stream = new WriteStream();
  if (second) {
    await stream.greet(first);
    stream.send(second);
  } else {
    stream.send({ database: root, ...first });
  }
  await expect(stream.answers(2)).rejects.toMatchObject({ code: INVALID_ARGUMENT });
});
