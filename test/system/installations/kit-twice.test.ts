import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type LocalCloud, startLocalCloud } from '../../../packages/local/src/cloud.ts';
import { eventually } from '../requests.ts';

/** The function kit in a project that installed it twice: one module, two prefixes, separate parameters. */
const MODULE = join(import.meta.dirname, '../../../packages/calls/src/index.ts');

let receiver: Server;
let cloud: LocalCloud;
const received: string[] = [];

beforeAll(async () => {
  receiver = createServer((request, response) => {
    received.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.end('done');
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const instance = (id: string, env: Readonly<Record<string, string>>) => ({
    name: id,
    module: MODULE,
    prefix: `kit-${id}-`,
    env: { FIREBASE_KIT_INSTANCE_ID: id, CALL_TARGET_URL: `${url}/${id}`, ...env },
  });
  cloud = await startLocalCloud({
    data: 'memory',
    keepsSpare: false,
    codebases: [
      instance('orders', { CALL_TOKEN: 'of-orders' }),
      instance('bills', { CALL_TOKEN: 'of-bills', CALL_APPROVAL: 'always' }),
    ],
    firebaseJson: 'none',
    log: () => {},
  });
});
afterAll(async () => {
  await cloud?.stop();
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
});

type Body = Record<string, unknown>;

async function call(path: string, json?: Body): Promise<{ status: number; body: Body }> {
  const headers = { authorization: `Bearer ${cloud.apiKey}`, 'content-type': 'application/json' };
  const sent = json ? { method: 'POST', headers, body: JSON.stringify(json) } : { headers };
  const answer = await fetch(`${cloud.functionsUrl}${path}`, sent);
  return { status: answer.status, body: (await answer.json()) as Body };
}

const until = (path: string, status: string) =>
  eventually(`${path} to become ${status}`, async () => {
    const { body } = await call(path);
    return body.status === status ? body : undefined;
  });

test('each instance drives its own runs under its own parameters, and does not see those of the other', async () => {
  const start = async (api: string, input: Body) => {
    const { status, body } = await call(`/${api}/v1/runs`, { type: 'http-call', input });
    expect(status).toBe(201);
    return String(body.runId);
  };
  const order = await start('kit-orders-api', { path: '/7' });
  const bill = await start('kit-bills-api', { method: 'PUT', path: '/7' });
  const done = await until(`/kit-orders-api/v1/runs/${order}`, 'completed');
  expect(done.result).toEqual({ answer: { status: 200, body: 'done', truncated: false } });
  await until(`/kit-bills-api/v1/runs/${bill}`, 'awaiting_approval');
  expect(received).toEqual(['POST /orders/7 Bearer of-orders']);

  const decided = await call(`/kit-bills-api/v1/runs/${bill}/approvals/approve`, { decision: 'approve' });
  expect(decided.status).toBe(200);
  await until(`/kit-bills-api/v1/runs/${bill}`, 'completed');
  expect(received).toEqual(['POST /orders/7 Bearer of-orders', 'PUT /bills/7 Bearer of-bills']);
  expect((await call(`/kit-orders-api/v1/runs/${bill}`)).status).toBe(404);
  expect((await call(`/kit-bills-api/v1/runs/${order}`)).status).toBe(404);
});

test('lists have the indexes of the prefix of each instance', async () => {
  for (const api of ['kit-orders-api', 'kit-bills-api']) {
    const { status, body } = await call(`/${api}/v1/runs?type=http-call`);
    expect([status, (body.items as Body[]).length]).toEqual([200, 1]);
  }
});
