import { join } from 'node:path';
import { Firestore } from '@google-cloud/firestore';
import { CloudTasksClient } from '@google-cloud/tasks';
import { credentials } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type LocalCloud, startLocalCloud } from '../../../packages/local/src/cloud.ts';
import { builtFunctions } from '../../../scripts/test-functions/built.ts';
import { eventually } from '../requests.ts';

let cloud: LocalCloud;
beforeAll(async () => {
  const functionsModule = builtFunctions(join(import.meta.dirname, 'fixtures/two-installations.ts'));
  cloud = await startLocalCloud({
    data: 'memory',
    keepsSpare: false,
    functionsModule,
    firebaseJson: 'none',
    log: () => {},
  });
});
afterAll(() => cloud.stop());

type Body = Record<string, unknown>;

async function call(path: string, json?: Body): Promise<{ status: number; body: Body }> {
  const { functionsUrl, apiKey } = cloud;
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const sent = json ? { method: 'POST', headers, body: JSON.stringify(json) } : { headers };
  const answer = await fetch(`${functionsUrl}${path}`, sent);
  return { status: answer.status, body: (await answer.json()) as Body };
}

const completed = (path: string) =>
  eventually(`${path} to be completed`, async () => {
    const { body } = await call(path);
    return body.status === 'completed' ? body : undefined;
  });

test('each completes its own runs through its own queues, and does not see runs of the other', async () => {
  const { status, body } = await call('/shop-api/v1/runs', { type: 'order', input: {} });
  expect(status).toBe(201);
  const shop = await completed(`/shop-api/v1/runs/${String(body.runId)}`);
  expect(shop.result).toEqual({ done: 'shop' });

  // Calls a function of the app, whose body has the secret of its installation.
  const { body: placed } = await call('/place', {});
  const blog = await completed(`/blog-api/v1/runs/${String(placed.runId)}`);
  expect(blog.result).toEqual({ hasKey: true });
  expect((await call('/place', {})).body).toEqual({ runId: placed.runId, replayed: true });

  expect((await call(`/blog-api/v1/runs/${String(body.runId)}`)).status).toBe(404);
  expect((await call(`/shop-api/v1/runs/${String(placed.runId)}`)).status).toBe(404);
  expect((await call('/shop-api/v1/runs', { type: 'charge', input: {} })).status).toBe(400);
});

test('lists have the indexes of the prefix that is in use, and the app queries collections named like those below a run', async () => {
  const { status, body } = await call('/shop-api/v1/runs?type=order');
  expect([status, (body.items as Body[]).length]).toEqual([200, 1]);

  const db = new Firestore({ projectId: cloud.projectId, host: cloud.firestore, ssl: false });
  try {
    await db.collection('events').add({ at: 1, type: 'concert' });
    const concerts = await db
      .collection('events')
      .where('type', '==', 'concert')
      .orderBy('at')
      .get()
      .catch(String);
    const newest = await db.collection('events').orderBy('at', 'desc').get();
    expect(newest.size).toBe(1);
    // Indexes are required, as in production.
    expect(concerts).toContain('requires an index');
    const below = await db.collectionGroup('shop_events').get();
    expect(below.size).toBeGreaterThan(0);
  } finally {
    await db.terminate();
  }
});

test('the queues have the names of the functions', async () => {
  const [apiEndpoint = '', port] = cloud.tasks.split(':');
  const client = new CloudTasksClient({
    apiEndpoint,
    port: Number(port),
    sslCreds: credentials.createInsecure(),
  });
  const parent = client.locationPath(cloud.projectId, 'europe-west1');
  const [queues] = await client.listQueues({ parent });
  await client.close();
  const names = queues.map(({ name }) => name?.split('/').at(-1) ?? '');
  expect(names).toContain('blog-drive-2');
  expect(names.filter((name) => !/-\d+$/.test(name)).sort()).toEqual([
    'blog-drive',
    'blog-driveAlone',
    'blog-driveSlow',
    'blog-driveSlowAlone',
    'shop-drive',
    'shop-driveAlone',
  ]);
});
