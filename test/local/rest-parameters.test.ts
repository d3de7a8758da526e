/** Parameters of every REST call: partial answers, and a POST in place of another method. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fieldsMask, kept } from '../../packages/local-kit/src/rest/answer-form.ts';
import { loadProtocol } from '../../packages/local-kit/src/wire/grpc-service.ts';
import { type Bench, startBench } from './firestore/support/client.ts';
import { database } from './firestore/support/requests.ts';
import { LOCATION, QUEUE, startTasks, type TasksFixture } from './tasks/tasks-fixture.ts';

const LIST = loadProtocol('@google-cloud/firestore-api', 'build/protos/protos.json').lookupType(
  'google.firestore.v1.ListDocumentsResponse',
);
const maskOf = (fields: string) => fieldsMask(LIST, new URLSearchParams({ fields }));

const documents = [
  { name: 'c/a', fields: { my_field: { integerValue: '1' }, x: { nullValue: null } }, createTime: 't' },
  { name: 'c/b', fields: { x: { arrayValue: { values: [{ stringValue: 's' }, { booleanValue: true }] } } } },
];
const answer = { documents, nextPageToken: 'token' };

describe('a partial answer', () => {
  test.each<[string, unknown]>([
    ['nextPageToken', { nextPageToken: 'token' }],
    ['next_page_token', { nextPageToken: 'token' }],
    ['*', answer],
    ['documents/name', { documents: [{ name: 'c/a' }, { name: 'c/b' }] }],
    ['documents.name', { documents: [{ name: 'c/a' }, { name: 'c/b' }] }],
    [
      'documents(name,fields/my_field),nextPageToken',
      {
        documents: [
          { name: 'c/a', fields: { my_field: { integerValue: '1' } } },
          { name: 'c/b', fields: {} },
        ],
        nextPageToken: 'token',
      },
    ],
    ['documents,documents/name', { documents }],
    ['*,documents/name', answer],
    ['*(create_time)', { documents: [{ createTime: 't' }, {}] }],
    ['*/*/my_field', { documents: [{ fields: { my_field: { integerValue: '1' } } }, { fields: {} }] }],
    [
      'documents/fields/x/arrayValue/values/stringValue',
      {
        documents: [
          { fields: { x: {} } },
          { fields: { x: { arrayValue: { values: [{ stringValue: 's' }, {}] } } } },
        ],
      },
    ],
    [
      'documents/fields/*/integerValue',
      { documents: [{ fields: { my_field: { integerValue: '1' }, x: {} } }, { fields: { x: {} } }] },
    ],
  ])('%s', (fields, part) => {
    const mask = maskOf(fields);
    expect(mask && kept(answer, mask)).toEqual(part);
  });

  test.each(['zz', 'documents/zz', 'nextPageToken/a', 'documents/createTime/seconds', 'constructor'])(
    'with %s, which no answer has, is refused',
    (fields) => {
      expect(() => maskOf(fields)).toThrow("Error expanding 'fields' parameter.");
    },
  );

  test('that names what no answer has is refused in a text of bounded length', () => {
    expect(() => maskOf('z'.repeat(1_000_000))).toThrow(/^.{1,250}$/);
  });

  test('that is deep and ambiguous takes no more time than its length', () => {
    const mask = maskOf(`*/${'a_b/'.repeat(90)}a_b`);
    expect(mask && kept(answer, mask)).toEqual({ documents: [{}, {}] });
  });

  test('is the one that all parameters together ask for', () => {
    const mask = fieldsMask(
      LIST,
      new URLSearchParams(
        '$fields=&fields=documents/name&fields=&fields=nextPageToken&$fields=documents/createTime',
      ),
    );
    const [first, second] = documents.map(({ fields: _, ...document }) => document);
    expect(mask && kept(answer, mask)).toEqual({ ...answer, documents: [first, second] });
  });

  test('is the one that both spellings of a member ask for', () => {
    const stats = loadProtocol('@google-cloud/firestore-api', 'build/protos/protos.json').lookupType(
      'google.firestore.v1.RunQueryResponse',
    );
    const mask = fieldsMask(
      stats,
      new URLSearchParams({
        fields: 'explain_metrics/planSummary,explainMetrics/executionStats/readOperations',
      }),
    );
    const explainMetrics = { planSummary: {}, executionStats: { readOperations: '1' } };
    expect(mask && kept({ explainMetrics }, mask)).toEqual({ explainMetrics });
  });

  test.each([
    ',',
    'a,',
    '(a)',
    'documents(',
    'documents(name',
    'documents)',
    'documents//name',
    '/name',
    'documents(name)name',
    `${'documents('.repeat(20_000)}`,
  ])('with malformed mask %# is refused', (fields) => {
    expect(() => maskOf(fields)).toThrow('Invalid field mask');
  });

  test('has exactly the members that a path of the mask leads to', () => {
    const leaves = leafPaths(answer);
    const prefixes = new Map(
      leaves.flatMap((path) => path.map((_, i) => [path.slice(0, i + 1).join('/'), path.slice(0, i + 1)])),
    );
    const paths = fc
      .constantFrom(...prefixes.values())
      .chain((path) => fc.tuple(...path.map((name) => fc.constantFrom(name, name, snakeCase(name), '*'))));
    fc.assert(
      fc.property(fc.array(paths, { minLength: 1, maxLength: 4 }), fc.boolean(), (asked, inGroups) => {
        const written = [...new Set(asked.map((path) => path.join('/')))];
        const mask = maskOf(inGroups ? grouped(written) : written.join(','));
        const leadsTo = (leaf: readonly string[]) => (path: readonly string[]) =>
          path.length <= leaf.length &&
          path.every((name, i) => name === '*' || name === leaf[i] || name === snakeCase(leaf[i] ?? ''));
        const within = leaves.filter((leaf) => asked.some(leadsTo(leaf)));
        expect(mask && leafPaths(kept(answer, mask))).toEqual(within);
      }),
      { numRuns: 500 },
    );
  });
});

/** The name of a member in the protocol. */
const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Paths to values that are not objects, without list indexes. */
function leafPaths(value: unknown, above: readonly string[] = []): (readonly string[])[] {
  if (Array.isArray(value)) return value.flatMap((one) => leafPaths(one, above));
  if (typeof value !== 'object' || value === null) return [above];
  return Object.entries(value).flatMap(([name, inner]) => leafPaths(inner, [...above, name]));
}

/** The same paths, grouped by their first part. */
function grouped(paths: readonly string[]): string {
  const heads = [...new Set(paths.map((path) => path.split('/')[0] ?? ''))];
  const parts = heads.map((head) => {
    const below = paths
      .filter((path) => path.startsWith(`${head}/`))
      .map((path) => path.slice(head.length + 1));
    const whole = paths.includes(head) ? [head] : [];
    return [...whole, ...(below.length > 0 ? [`${head}(${grouped(below)})`] : [])].join(',');
  });
  return parts.join(',');
}

describe('a request over REST', () => {
  let bench: Bench;
  let tasks: TasksFixture;
  beforeAll(async () => {
    [bench, tasks] = await Promise.all([startBench(), startTasks()]);
    await tasks.client.createQueue({ parent: LOCATION, queue: { name: QUEUE } });
  });
  afterAll(async () => {
    await bench.stop();
    await tasks.stop();
  });

  const ask = async (url: string, init: RequestInit = {}) => {
    const response = await fetch(url, init);
    return [response.status, await response.json()] as const;
  };
  const documentsUrl = () => `http://${bench.server.host}/v1/${database}/documents`;
  const queueUrl = () => `http://${tasks.server.host}/v2/${QUEUE}`;
  const post = (method: string, body?: string, contentType = 'application/json') => ({
    method: 'POST',
    headers: { 'x-http-method-override': method, 'content-type': contentType },
    ...(body !== undefined && { body }),
  });

  test('gets the part of the answer that it asks for', async () => {
    const name = `${database}/documents/parts/a`;
    await ask(`${documentsUrl()}/parts?documentId=a`, {
      method: 'POST',
      body: '{"fields":{"a":{"integerValue":"1"}}}',
    });
    const query = {
      method: 'POST',
      body: JSON.stringify({ structuredQuery: { from: [{ collectionId: 'parts' }] } }),
    };
    expect(await ask(`${documentsUrl()}/parts/a?fields=name`)).toEqual([200, { name }]);
    expect(await ask(`${documentsUrl()}:runQuery?$fields=document.name`, query)).toEqual([
      200,
      [{ document: { name } }],
    ]);
    expect(await ask(`${queueUrl()}?fields=name,state&prettyPrint=false&alt=json`)).toEqual([
      200,
      { name: QUEUE, state: 'RUNNING' },
    ]);
  });

  test.each(['fields=zz', 'fields=name(', 'alt=proto', 'alt=json&alt=media', 'callback=f', '$callback=f'])(
    'with %s is refused before it does anything',
    async (query) => {
      const made = await ask(`${documentsUrl()}/refused?documentId=a&${query}`, {
        method: 'POST',
        body: '{}',
      });
      expect(made).toMatchObject([400, { error: { status: 'INVALID_ARGUMENT' } }]);
      expect(await ask(`${documentsUrl()}/refused`)).toEqual([200, {}]);
      expect(await ask(`${queueUrl()}:pause?${query}`, { method: 'POST' })).toMatchObject([400, {}]);
      expect(await ask(queueUrl())).toMatchObject([200, { state: 'RUNNING' }]);
    },
  );

  test.each([
    'oauth_token=x',
    'bearer_token=x',
    'access_token=x',
    'key=x',
    'pp=1',
    'alt=',
    '$alt=&alt=json',
    'callback=',
    'fields=',
    'quotaUser=x',
    '$.xgafv=2',
    '$unique=1',
  ])('may have %s', async (query) => {
    expect(await ask(`${documentsUrl()}/none?${query}`)).toEqual([200, {}]);
    expect(await ask(`${queueUrl()}?${query}`)).toMatchObject([200, { name: QUEUE }]);
  });

  test('may be a POST in place of another method', async () => {
    const fields = (n: number) =>
      JSON.stringify({ fields: { n: { integerValue: String(n) }, m: { nullValue: null } } });
    const document = `${documentsUrl()}/override/a`;
    expect(await ask(document, post('PATCH', fields(1)))).toMatchObject([200, {}]);
    expect(await ask(document)).toMatchObject([200, { fields: { n: { integerValue: '1' } } }]);
    const form = post('get', 'mask.fieldPaths=n&fields=fields', 'application/x-www-form-urlencoded');
    expect(await ask(document, form)).toEqual([200, { fields: { n: { integerValue: '1' } } }]);
    expect(await ask(document, post('DELETE'))).toEqual([200, {}]);
    expect(await ask(document)).toMatchObject([404, {}]);
    expect(await ask(queueUrl(), post('GET'))).toMatchObject([200, { name: QUEUE }]);
    const upperCase = post('GET', 'fields=name', 'Application/X-WWW-Form-Urlencoded; charset=utf-8');
    expect(await ask(queueUrl(), upperCase)).toEqual([200, { name: QUEUE }]);
    expect(await ask(`${queueUrl()}:pause`, post('', '{}'))).toMatchObject([200, { state: 'PAUSED' }]);
    // Only a POST can replace another method.
    expect(await ask(queueUrl(), { headers: { 'x-http-method-override': 'DELETE' } })).toMatchObject([
      200,
      { name: QUEUE },
    ]);
  });

  test.each(['GET', 'delete'])(
    'has no JSON body that would be lost where a POST stands for %s',
    async (method) => {
      const document = `${documentsUrl()}/kept/a`;
      await ask(document, post('PATCH', '{}'));
      expect(await ask(document, post(method, '{"mask":{"fieldPaths":["n"]}}'))).toMatchObject([
        400,
        {
          error: {
            status: 'INVALID_ARGUMENT',
            message: expect.stringContaining('application/x-www-form-urlencoded'),
          },
        },
      ]);
      expect(await ask(document)).toMatchObject([200, { name: `${database}/documents/kept/a` }]);
      expect(await ask(document, post(method, '{}'))).toMatchObject([200, {}]);
    },
  );
});
