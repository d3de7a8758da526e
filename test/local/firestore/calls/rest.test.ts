import { request } from 'node:http';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { FieldPath, FieldValue, Filter, Firestore, GeoPoint, Timestamp } from '@google-cloud/firestore';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Bench, PROJECT, startBench } from '../support/client.ts';
import { RawCalls } from '../support/raw-calls.ts';
import { database } from '../support/requests.ts';

const require = createRequire(import.meta.url);
/** From the library that the client authenticates with: sends requests unchanged. */
const { PassThroughClient } = createRequire(require.resolve('google-gax'))('google-auth-library') as {
  PassThroughClient: new () => unknown;
};

let bench: Bench;
let rest: Firestore;

beforeAll(async () => {
  bench = await startBench();
  const [host, port] = bench.server.host.split(':') as [string, string];
  rest = new Firestore({
    projectId: PROJECT,
    host,
    port: Number(port),
    ssl: false,
    preferRest: true,
    // Without a key or file the client would search for the machine's own credentials.
    authClient: new PassThroughClient(),
  } as never);
});
afterAll(async () => {
  await rest.terminate();
  await bench.stop();
});

const root = () => `http://${bench.server.host}/v1/${database}/documents`;

async function ask(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${root()}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as never };
}

describe('the client that prefers REST', () => {
  test('stores every type of value and reads it back, as gRPC does', async () => {
    const data = {
      nothing: null,
      yes: false,
      small: -1,
      large: Number.MAX_SAFE_INTEGER,
      half: 0.5,
      nan: Number.NaN,
      infinite: Number.NEGATIVE_INFINITY,
      text: 'mañana \u0000 🎉',
      bytes: Buffer.from([0, 255, 1]),
      time: new Timestamp(1_700_000_000, 123_456_000),
      before1970: new Timestamp(-1, 999_999_000),
      place: new GeoPoint(1.5, -2),
      list: [1, { deep: [2] }],
      map: { 'odd key.with`tick': { x: null } },
      empty: {},
      vector: FieldValue.vector([1, 2, 3]),
    };
    await rest.doc('rest/all').set(data);
    expect((await rest.doc('rest/all').get()).data()).toEqual(data);
    expect((await bench.db.doc('rest/all').get()).data()).toEqual(data);
  });

  test('updates, transforms and deletes, and gets the same error codes', async () => {
    const ref = rest.doc('rest/a: b%');
    await ref.create({ n: 1, gone: 1 });
    await ref.update({ n: FieldValue.increment(2), gone: FieldValue.delete() });
    expect((await ref.get()).data()).toEqual({ n: 3 });
    await expect(ref.create({})).rejects.toMatchObject({ code: 6 });
    await expect(rest.doc('rest/none').update({ a: 1 })).rejects.toMatchObject({ code: 5 });
    await ref.delete();
    expect((await ref.get()).exists).toBe(false);
  });

  test('queries, counts, explains, lists and writes in bulk', async () => {
    const writer = rest.bulkWriter();
    for (let i = 0; i < 20; i++) void writer.set(rest.doc(`many/d${String(i).padStart(2, '0')}`), { i });
    await writer.close();
    const many = rest.collection('many');
    const query = many
      .where(Filter.or(Filter.where('i', '<', 2), Filter.where('i', '>=', 18)))
      .orderBy('i', 'desc');
    const seen = async () => (await query.limit(3).get()).docs.map((d) => d.get('i'));
    expect(await seen()).toEqual([19, 18, 1]);
    expect((await many.where(FieldPath.documentId(), '>', 'd17').get()).size).toBe(2);
    expect((await many.count().get()).data().count).toBe(20);
    expect((await rest.collection('nobody').get()).empty).toBe(true);
    const explained = await query.explain({ analyze: true });
    expect(explained.metrics.executionStats?.resultsReturned).toBe(4);
    expect((await rest.listCollections()).map((c) => c.id)).toContain('many');
    expect(await many.listDocuments()).toHaveLength(20);
  });

  test('runs transactions', async () => {
    const ref = rest.doc('rest/counter');
    await ref.set({ n: 0 });
    const add = () =>
      rest.runTransaction(async (t) => {
        const { n } = (await t.get(ref)).data() as { n: number };
        t.set(ref, { n: n + 1 });
      });
    await add();
    await add();
    expect((await ref.get()).get('n')).toBe(2);
    const failing = rest.runTransaction(async (t) => {
      await t.get(ref);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await bench.db.doc('rest/counter').set({ n: 9 });
  });
});

describe('plain requests', () => {
  test('create, read, list, change and delete documents', async () => {
    const fields = { n: { integerValue: '1' }, s: { stringValue: 'x' } };
    const created = await ask('POST', '/plain?documentId=one', { fields });
    expect(created).toMatchObject({ status: 200, body: { name: `${database}/documents/plain/one`, fields } });
    expect((await ask('POST', '/plain?documentId=one', { fields })).body).toMatchObject({
      error: { code: 409, status: 'ALREADY_EXISTS' },
    });
    await ask('POST', '/plain/one/below', { fields: {} });
    expect((await ask('GET', '/plain/one?mask.fieldPaths=s')).body).toMatchObject({
      fields: { s: fields.s },
    });
    const changed = await ask('PATCH', '/plain/one?updateMask.fieldPaths=n&currentDocument.exists=true', {
      fields: { n: { doubleValue: 2 } },
    });
    expect(changed.body).toMatchObject({ fields: { n: { doubleValue: 2 }, s: fields.s } });
    await ask('PATCH', '/plain/two', { fields: {} });
    const first = (await ask('GET', '/plain?pageSize=1')).body as {
      documents: object[];
      nextPageToken: string;
    };
    expect(first.documents).toHaveLength(1);
    const next = await ask('GET', `/plain?pageSize=1&pageToken=${encodeURIComponent(first.nextPageToken)}`);
    expect(next.body).toMatchObject({ documents: [{ name: `${database}/documents/plain/two` }] });
    expect((await ask('POST', '/plain/one:listCollectionIds', {})).body).toMatchObject({
      collectionIds: ['below'],
    });
    expect((await ask('DELETE', '/plain/one')).status).toBe(200);
    expect(await ask('GET', '/plain/one')).toMatchObject({
      status: 404,
      body: { error: { status: 'NOT_FOUND' } },
    });
  });

  test('members with default values are omitted as in protobuf JSON, except in document values', async () => {
    const fields = {
      zero: { integerValue: '0' },
      text: { stringValue: '' },
      no: { booleanValue: false },
      nothing: { nullValue: null },
      list: { arrayValue: {} },
      map: { mapValue: {} },
    };
    expect((await ask('PATCH', '/bare/all', { fields })).body).toMatchObject({ fields });
    const { body } = await ask('PATCH', '/bare/none', { fields: {} });
    expect(Object.keys(body as object).sort()).toEqual(['createTime', 'name', 'updateTime']);
    const from = [{ collectionId: 'nobody' }];
    expect((await ask('POST', ':runQuery', { structuredQuery: { from } })).body).toEqual([
      { readTime: expect.any(String), done: true },
    ]);
    expect((await ask('GET', '/nobody')).body).toEqual({});
    const write = { delete: `${database}/documents/bare/none` };
    expect((await ask('POST', ':commit', { writes: [write] })).body).toEqual({
      writeResults: [{}],
      commitTime: expect.any(String),
    });
  });

  test('a zero keeps its sign', async () => {
    const fields = { negative: { doubleValue: '-0' }, positive: { doubleValue: 0 } };
    expect((await ask('PATCH', '/zeros/all', { fields })).body).toMatchObject({ fields });
  });

  test('a request without a body has no members', async () => {
    expect(await ask('POST', ':beginTransaction', undefined)).toMatchObject({
      status: 200,
      body: { transaction: expect.any(String) },
    });
  });

  test('a request that violates the protocol is INVALID_ARGUMENT, with the reason', async () => {
    const cases: [string, string, object | undefined, RegExp][] = [
      ['POST', ':commit', { wrotes: [] }, /wrotes/],
      ['POST', '/plain', { fields: { a: { integerValue: '1.5' } } }, /whole number/],
      ['POST', '/plain', { fields: { a: { integerValue: '9223372036854775808' } } }, /whole number/],
      ['POST', '/plain', { fields: { a: { stringValue: 'x', booleanValue: true } } }, /twice/],
      ['POST', '/plain', { fields: { a: { timestampValue: 'noon' } } }, /RFC 3339/],
      ['GET', '/plain?pageSizes=1', undefined, /pageSizes/],
      ['POST', ':runQuery', { structuredQuery: { from: [{ collectionId: 7 }] } }, /must be a text/],
    ];
    for (const [method, path, body, reason] of cases) {
      const answer = await ask(method, path, body);
      expect({ path, ...answer }).toMatchObject({
        path,
        status: 400,
        body: { error: { status: 'INVALID_ARGUMENT', message: expect.stringMatching(reason) } },
      });
    }
    const levels = 100_000;
    const deep = `${'{"arrayValue":{"values":['.repeat(levels)}${']}}'.repeat(levels)}`;
    const tooDeep = await fetch(`${root()}/plain`, { method: 'POST', body: `{"fields":{"a":${deep}}}` });
    expect(tooDeep.status).toBe(400);
    const broken = await fetch(`${root()}:commit`, { method: 'POST', body: '{' });
    expect(broken.status).toBe(400);
    expect((await ask('POST', ':executePipeline', {})).status).toBe(501);
    expect((await ask('POST', ':nothing', {})).status).toBe(404);
  });

  test.each([
    ['DELETE', '/reset'],
    ['PATCH', '/reset'],
    ['DELETE', '/reset/a/below'],
    ['POST', '/reset/a?documentId=b'],
    ['POST', '/reset/a:commit'],
    ['GET', '/reset/a/'],
  ])(
    '%s %s: a collection in place of a document, and the other way round, is refused for its name',
    async (method, path) => {
      expect(await ask(method, path)).toMatchObject({
        status: 400,
        body: { error: { status: 'INVALID_ARGUMENT', message: expect.stringMatching(/odd number|parent/i) } },
      });
    },
  );

  test.each([
    ['PUT', 'securityRules'],
    ['GET', 'ruleCoverage'],
    ['GET', 'ruleCoverage.html'],
  ])('%s %s: a caller that relies on security rules is told that there are none', async (method, route) => {
    const address = `http://${bench.server.host}/emulator/v1/projects/${PROJECT}:${route}`;
    const response = await fetch(address, { method, ...(method === 'PUT' && { body: '{"rules":{}}' }) });
    const { error } = (await response.json()) as { error: { status: string } };
    expect([response.status, error.status]).toEqual([501, 'UNIMPLEMENTED']);
  });

  test('the earlier version v1beta1 has the same calls, over REST and over gRPC', async () => {
    const name = `${database}/documents/beta/a`;
    const beta = `http://${bench.server.host}/v1beta1/${database}/documents`;
    const made = await fetch(`${beta}/beta?documentId=a`, {
      method: 'POST',
      body: '{"fields":{"a":{"integerValue":"1"}}}',
    });
    expect(await made.json()).toMatchObject({ name });
    expect(await (await fetch(`${beta}/beta/a`)).json()).toMatchObject({
      name,
      fields: { a: { integerValue: '1' } },
    });
    const calls = new RawCalls(bench.server.host, 'v1beta1');
    try {
      expect(await calls.call('GetDocument', { name })).toMatchObject({ code: 0, messages: [{ name }] });
      expect(await calls.call('GetDocument', { name: `${name}no` })).toMatchObject({ code: 5 });
    } finally {
      calls.close();
    }
  });

  test('the emulator’s own routes: empty a database, and say that the server is up', async () => {
    await bench.db.doc('reset/a').set({});
    const other = bench.client('other-rest');
    await other.doc('reset/a').set({});
    const emptied = await fetch(`http://${bench.server.host}/emulator/v1/${database}/documents`, {
      method: 'DELETE',
    });
    expect(emptied.status).toBe(200);
    expect((await bench.db.doc('reset/a').get()).exists).toBe(false);
    expect((await other.doc('reset/a').get()).exists).toBe(true);
    expect(await (await fetch(`http://${bench.server.host}/`)).text()).toBe('Ok\n');
  });
});

describe('web pages', () => {
  /** Request with headers that `fetch` does not allow. */
  const as = (headers: Record<string, string>, method = 'GET') =>
    new Promise<{ status: number | undefined; allowed: unknown }>((resolve, reject) => {
      const url = new URL(`${root()}/plain`);
      request(url, { method, headers }, (response) => {
        response.resume();
        const allowed = response.headers['access-control-allow-origin'];
        response.on('end', () => resolve({ status: response.statusCode, allowed }));
      })
        .on('error', reject)
        .end();
    });

  test('of this machine get responses; others and rebound names are refused', async () => {
    const origin = 'http://localhost:5173';
    expect(await as({ origin })).toEqual({ status: 200, allowed: origin });
    expect(await as({ origin }, 'OPTIONS')).toEqual({ status: 204, allowed: origin });
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://localhost.evil.example' },
      { host: 'evil.example' },
      { host: 'evil.example:80', origin },
    ]) {
      expect({ headers, ...(await as(headers as never)) }).toMatchObject({ headers, status: 403 });
      expect((await as(headers as never, 'OPTIONS')).allowed).toBeUndefined();
    }
  });

  test('the protocol of a connection is detected even if its first bytes arrive one by one', async () => {
    const [, port] = bench.server.host.split(':');
    const answered = (text: string) =>
      new Promise<string>((resolve, reject) => {
        const socket = connect(Number(port), '127.0.0.1', async () => {
          socket.setNoDelay();
          for (const char of text) await new Promise((sent) => socket.write(char, sent));
        });
        let seen = '';
        socket.on('data', (chunk) => {
          seen += chunk.toString('latin1');
          socket.destroy();
        });
        socket.on('close', () => resolve(seen));
        socket.on('error', reject);
      });
    expect(await answered('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')).toMatch(/^HTTP\/1.1 200/);
    expect(await answered('PUT / HTTP/1.1\r\nHost: localhost\r\n\r\n')).toMatch(/^HTTP\/1.1 404/);
    // An HTTP/2 server begins with its settings: type 4, stream 0.
    const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0';
    expect((await answered(preface)).charCodeAt(3)).toBe(4);
    expect(await answered('nonsense\r\n\r\n')).toMatch(/^HTTP\/1.1 400/);
  });
});
