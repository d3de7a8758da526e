import { Timestamp } from '@google-cloud/firestore';
import { describe, expect, test } from '@jest/globals';
import { clientCodec } from '../../packages/cairn/src/store/codec/access.ts';
import type { World } from '../../packages/cli/src/world.ts';
import { Installation } from '../api/installation.ts';
import { listening, saying } from './support/stage.ts';

interface RestValue {
  readonly stringValue?: string;
  readonly booleanValue?: boolean;
  readonly timestampValue?: string;
  readonly arrayValue?: { readonly values: readonly RestValue[] };
}

function plain({ stringValue, booleanValue, timestampValue, arrayValue }: RestValue): unknown {
  if (timestampValue !== undefined) return Timestamp.fromDate(new Date(timestampValue));
  return stringValue ?? booleanValue ?? arrayValue?.values.map(plain);
}

const FIRST = ['clients', 'first', 'my-project', 'acme'];
const answering =
  (status: number, body: unknown): World['fetch'] =>
  async () =>
    Response.json(body, { status });

describe('the first key of an installation', () => {
  test('is a document that the API reads as a client, and its key is accepted', async () => {
    const sent: { url: string; init: RequestInit }[] = [];
    const fetch: World['fetch'] = async (url, init) => {
      sent.push({ url, init });
      return Response.json({});
    };
    const output = await saying(
      FIRST,
      listening({
        fetch,
        stdin: 'ya29.token\n',
        now: 1_700_000_000_000,
        token: () => '0123456789abcdef'.repeat(2),
      }),
    );
    const [{ url, init } = { url: '', init: {} as RequestInit }] = sent;
    expect([output.code, sent.length, new Headers(init.headers).get('authorization')]).toEqual([
      0,
      1,
      'Bearer ya29.token',
    ]);
    expect(url).toBe(
      'https://firestore.googleapis.com/v1/projects/my-project/databases/(default)/documents/gwi_clients?documentId=first-admin',
    );

    const { fields } = JSON.parse(String(init.body)) as { fields: Record<string, RestValue> };
    const members = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, plain(value)]));
    const client = clientCodec.decode(members, 'the first client');
    expect(client).toMatchObject({ tenantId: 'acme', roles: ['installation'], createdAt: 1_700_000_000_000 });
    const key = output.out.trim();
    expect(String(init.body)).not.toContain(key.split('_').at(-1));
    const installation = new Installation();
    await installation.clients.create(client);
    expect((await installation.get('/v1/clients', key)).status).toBe(200);
    expect((await installation.get('/v1/clients', `${key}x`)).status).toBe(401);
  });

  test.each([
    ['does not replace an existing one', answering(409, {}), 1, 'this client already exists'],
    [
      'is not created without permission',
      answering(403, { error: { status: 'PERMISSION_DENIED', message: 'no' } }),
      5,
      'PERMISSION_DENIED no',
    ],
    [
      'is not created in a project without a database',
      answering(404, { error: { status: 'NOT_FOUND', message: 'no database' } }),
      3,
      'no database',
    ],
    [
      'is not created without a response',
      () => Promise.reject(new TypeError('fetch failed')),
      4,
      'does not respond',
    ],
  ])('%s', async (_, fetch, code, why) => {
    const output = await saying(FIRST, listening({ fetch, stdin: 'token' }));
    expect([output.code, output.out, output.err]).toEqual([code, '', expect.stringContaining(why)]);
  });

  test.each([
    [['clients', 'first', 'My Project', 'acme'], 'token'],
    [['clients', 'first', 'my-project', 'a b'], 'token'],
    [[...FIRST, '--client', 'a_b'], 'token'],
    [FIRST, ''],
    [FIRST, 'two words'],
  ])('%j with %j on standard input sends nothing', async (words, stdin) => {
    const output = await saying(words, listening({ stdin, fetch: () => Promise.reject(new Error('sent')) }));
    expect(output.code).toBe(2);
  });
});
