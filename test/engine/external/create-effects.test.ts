import { fileURLToPath } from 'node:url';
import { Firestore, Timestamp } from '@google-cloud/firestore';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createEffects, defineBinding, defineCapability } from '../../../packages/cairn/src/effects.ts';
import { FirestoreEffectStore } from '../../../packages/cairn/src/store/firestore-effect-store.ts';
import { type FirestoreServer, startFirestoreServer } from '../../../packages/local-firestore/src/server.ts';

const indexesFile = fileURLToPath(new URL('../../../firestore.indexes.json', import.meta.url));

const report = defineCapability({
  id: 'reports.send',
  sideEffects: 'external_action',
  idempotency: 'not_supported',
  request: z.object({ about: z.string() }),
  response: z.object({ text: z.string() }),
});

let server: FirestoreServer;

beforeAll(async () => {
  server = await startFirestoreServer({ storage: { kind: 'memory' }, indexesFile });
  process.env.METADATA_SERVER_DETECTION = 'none';
  process.env.FIRESTORE_EMULATOR_HOST = server.host;
});
afterAll(() => server.stop());

test('processes on one Firestore make one call for each key, and get the same response, also a large one', async () => {
  const calls: string[] = [];
  const text = 'x'.repeat(400_000);
  const bindings = [
    defineBinding(report, {
      id: 'reports',
      call: async ({ about }) => {
        calls.push(about);
        return { text: `${about}${text}` };
      },
    }),
  ];
  const process = () => createEffects({ tenantId: 't1', project: 'demo-once', bindings });
  const [one, other] = [process(), process()];
  const make = (about: string) =>
    [one, other, one].map((effects) => effects.once(`report-${about}`, report, { about }));
  const answers = await Promise.all([...make('a'), ...make('b')]);
  expect(calls.toSorted()).toEqual(['a', 'b']);
  expect(new Set(answers.map((answer) => answer.text))).toEqual(new Set([`a${text}`, `b${text}`]));
  await expect(other.once('report-a', report, { about: 'c' })).rejects.toMatchObject({
    code: 'EFFECT_REQUEST_MISMATCH',
  });
});

test('an unreadable row is named, and hides no other that asks', async () => {
  const fails = defineBinding(report, {
    id: 'reports',
    call: () => Promise.reject(new Error('socket hang up')),
  });
  const effects = createEffects({ tenantId: 't2', project: 'demo-once', bindings: [fails] });
  for (const key of ['a', 'b'])
    await expect(effects.once(key, report, { about: key })).rejects.toMatchObject({ code: 'EFFECT_PENDING' });
  const db = new Firestore({ projectId: 'demo-once' });
  const store = new FirestoreEffectStore(db);
  const { items, unreadable } = await store.asking('t2', Date.now(), 10);
  expect(unreadable).toEqual([]);
  const [damaged, whole] = items.map(({ effectId }) => effectId);
  await db.doc(`gwi_effects/${damaged}`).update({ status: 7 });
  const after = await store.asking('t2', Date.now(), 10);
  expect(after.items.map(({ effectId }) => effectId)).toEqual([whole]);
  expect(after.unreadable).toEqual([damaged]);
  await db.terminate();
});

test('invalid options are refused by name', () => {
  const options = { tenantId: 't1', project: 'demo-once', bindings: [] };
  expect(() => createEffects({ ...options, callTimeoutMs: 0 })).toThrow(
    expect.objectContaining({ field: 'callTimeoutMs' }),
  );
  expect(() => createEffects({ ...options, retry: { maxAttempts: 0 } })).toThrow(
    expect.objectContaining({ field: 'retry.maxAttempts' }),
  );
});

test('a key with a lifetime expires in the store, and each outcome is reported; a failing counter has no effect', async () => {
  const calls = defineBinding(report, { id: 'reports', call: async ({ about }) => ({ text: about }) });
  const outcomes: string[] = [];
  const effects = createEffects({
    tenantId: 't3',
    project: 'demo-once',
    bindings: [calls],
    keepFor: '2d',
    onOutcome: ({ tenantId, capabilityId, outcome }) => {
      outcomes.push(`${tenantId} ${capabilityId} ${outcome}`);
      throw new Error('no collector');
    },
  });
  const keptFrom = Date.now();
  for (let i = 0; i < 2; i += 1)
    expect(await effects.once('a', report, { about: 'a' })).toEqual({ text: 'a' });
  const keptUntil = Date.now();
  expect(outcomes).toEqual(['t3 reports.send executed', 't3 reports.send reused']);
  const db = new Firestore({ projectId: 'demo-once' });
  const { docs } = await db
    .collection('gwi_effects')
    .where('runId', '==', 'external:t3:a')
    .orderBy('createdAt')
    .get();
  await db.terminate();
  for (const row of docs) {
    const expiresAt: unknown = row.get('expiresAt');
    if (!(expiresAt instanceof Timestamp)) throw new Error('Firestore deletes by a timestamp only');
    const keptSince = expiresAt.toMillis() - 2 * 86_400_000;
    expect(keptSince).toBeGreaterThanOrEqual(keptFrom);
    expect(keptSince).toBeLessThanOrEqual(keptUntil);
  }
  expect(docs).toHaveLength(2);
});

test.each(['12h', 'soon', -1])('keys cannot be kept for %p', (keepFor) => {
  expect(() => createEffects({ tenantId: 't1', project: 'demo-once', bindings: [], keepFor })).toThrow(
    expect.objectContaining({ code: 'INVALID_INPUT', field: 'keepFor' }),
  );
});
