import { type Client, credentials, makeClientConstructor } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loadProtocol, serviceDefinition } from '../../../packages/local-kit/src/wire/grpc-service.ts';
import { type Bench, PROJECT, startBench } from './support/client.ts';

/** Calls that the Node client never makes, with the protocol description that it contains. */
const ROOT = `projects/${PROJECT}/databases/(default)/documents`;
const INVALID_ARGUMENT = 3;
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const FAILED_PRECONDITION = 9;

type Answer = Record<string, unknown> & { name: string; documents: { name: string; updateTime: unknown }[] };

let bench: Bench;
let client: Client &
  Record<string, (request: object, done: (error: unknown, answer: Answer) => void) => void>;

beforeAll(async () => {
  bench = await startBench();
  const service = serviceDefinition(
    loadProtocol('@google-cloud/firestore', 'build/protos/v1.json'),
    'google.firestore.v1.Firestore',
  );
  client = new (makeClientConstructor(service, 'Firestore'))(
    bench.server.host,
    credentials.createInsecure(),
  ) as never;
});
afterAll(async () => {
  client.close();
  await bench.stop();
});

function call(name: string, request: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    client[name]?.(request, (error, answer) => (error ? reject(error) : resolve(answer)));
  });
}

const text = (stringValue: string) => ({ stringValue });

test('a document is created, read, updated by mask and deleted', async () => {
  const document = { fields: { a: text('x'), b: text('y') } };
  const created = await call('CreateDocument', {
    parent: ROOT,
    collectionId: 'c',
    documentId: 'one',
    document,
  });
  expect(created).toMatchObject({ name: `${ROOT}/c/one`, fields: { a: { stringValue: 'x' } } });
  const again = call('CreateDocument', { parent: ROOT, collectionId: 'c', documentId: 'one', document });
  await expect(again).rejects.toMatchObject({ code: ALREADY_EXISTS });

  const change = { name: `${ROOT}/c/one`, fields: { a: text('z') } };
  const updated = await call('UpdateDocument', { document: change, updateMask: { fieldPaths: ['a'] } });
  expect(updated.fields).toMatchObject({ a: { stringValue: 'z' }, b: { stringValue: 'y' } });
  expect(updated.createTime).toEqual(created.createTime);
  expect(updated.updateTime).not.toEqual(created.updateTime);

  const masked = await call('GetDocument', { name: `${ROOT}/c/one`, mask: { fieldPaths: ['b'] } });
  expect(Object.keys(masked.fields as object)).toEqual(['b']);
  const stale = { name: `${ROOT}/c/one`, currentDocument: { updateTime: created.updateTime } };
  await expect(call('DeleteDocument', stale)).rejects.toMatchObject({ code: FAILED_PRECONDITION });
  await call('DeleteDocument', { name: `${ROOT}/c/one` });
  await expect(call('GetDocument', { name: `${ROOT}/c/one` })).rejects.toMatchObject({ code: NOT_FOUND });
});

test.each(['a..b', '__x__', ''])(
  'a call that is refused for the mask %j of its answer writes nothing',
  async (path) => {
    const mask = { fieldPaths: [path] };
    const name = `${ROOT}/masked/kept`;
    await call('CreateDocument', {
      parent: ROOT,
      collectionId: 'masked',
      documentId: 'kept',
      document: { fields: { a: text('old') } },
    });
    const change = { name, fields: { a: text('new') } };
    await expect(call('UpdateDocument', { document: change, mask })).rejects.toMatchObject({
      code: INVALID_ARGUMENT,
    });
    const more = { parent: ROOT, collectionId: 'masked', documentId: 'more', document: {}, mask };
    await expect(call('CreateDocument', more)).rejects.toMatchObject({ code: INVALID_ARGUMENT });
    expect(await call('GetDocument', { name })).toMatchObject({ fields: { a: { stringValue: 'old' } } });
    const made = call('GetDocument', { name: `${ROOT}/masked/more` });
    await expect(made).rejects.toMatchObject({ code: NOT_FOUND });
    await call('DeleteDocument', { name });
  },
);

test('a document without an id gets one', async () => {
  const made = await call('CreateDocument', { parent: ROOT, collectionId: 'auto', document: {} });
  expect(made.name).toMatch(/\/auto\/[A-Za-z0-9]{20}$/);
});

test('documents and collections are listed page by page', async () => {
  const batch = bench.db.batch();
  for (let i = 0; i < 5; i++) batch.set(bench.db.doc(`list/d${i}`), { i });
  batch.set(bench.db.doc('list/d9/below/x'), {});
  for (const id of ['k1', 'k2', 'k3']) batch.set(bench.db.doc(`list/d0/${id}/x`), {});
  await batch.commit();
  const pages = async (name: string, request: object, of: (answer: Answer) => string[]) => {
    const found: string[][] = [];
    for (let pageToken = ''; ; ) {
      const answer = await call(name, { ...request, pageSize: 2, pageToken });
      found.push(of(answer));
      pageToken = answer.nextPageToken as string;
      if (!pageToken) return found;
    }
  };
  const ids = ({ documents }: Answer) => documents.map((d) => d.name.split('/').at(-1) as string);
  const request = { parent: ROOT, collectionId: 'list' };
  expect(await pages('ListDocuments', request, ids)).toEqual([['d0', 'd1'], ['d2', 'd3'], ['d4']]);
  const missing = await pages('ListDocuments', { ...request, showMissing: true }, ids);
  expect(missing).toEqual([
    ['d0', 'd1'],
    ['d2', 'd3'],
    ['d4', 'd9'],
  ]);
  const collections = (answer: Answer) => answer.collectionIds as string[];
  expect(await pages('ListCollectionIds', { parent: `${ROOT}/list/d0` }, collections)).toEqual([
    ['k1', 'k2'],
    ['k3'],
  ]);
});
