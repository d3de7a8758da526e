import type { Firestore } from '@google-cloud/firestore';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { PAYLOAD_CHUNK_BYTES } from '../../packages/cairn/src/core/run/payload.ts';
import type { RunStore } from '../../packages/cairn/src/ports/run-store.ts';
import { firestoreHarness } from '../conformance/support/harness.firestore.ts';

const harness = firestoreHarness();
let runs: RunStore;
let db: Firestore;
beforeEach(async () => {
  ({ runs } = await harness.make());
  db = harness.db();
});
afterAll(() => harness.close());

/** Three chunks, which split characters. */
const text = `"${'ü'.repeat(PAYLOAD_CHUNK_BYTES + 1_000)}"`;
const chunkAt = (sha256: string, n: number) => db.doc(`gwi_runs/run_1/payloads/${sha256}-${n}`);

describe('a payload in Firestore', () => {
  test('is stored in documents under its run, each below the limit of a document', async () => {
    const ref = await runs.writePayload('run_1', text);
    const { docs } = await db.collection('gwi_runs/run_1/payloads').get();
    expect(docs.map(({ id }) => id)).toEqual([0, 1, 2].map((n) => `${ref.sha256}-${n}`));
    for (const found of docs) expect((found.get('data') as Buffer).length).toBeLessThanOrEqual(900 * 1024);
  });

  test('with a missing chunk is not returned, and the error names the chunk', async () => {
    const ref = await runs.writePayload('run_1', text);
    await chunkAt(ref.sha256, 1).delete();
    await expect(runs.readPayload('run_1', ref)).rejects.toThrow(
      `payload ${ref.sha256} of run run_1: chunk 1 of 3 is missing`,
    );
    await runs.writePayload('run_1', text);
    expect((await runs.readPayload('run_1', ref)) === text).toBe(true);
  });

  test('with a changed byte is not returned', async () => {
    const ref = await runs.writePayload('run_1', text);
    const chunk = Buffer.from((await chunkAt(ref.sha256, 2).get()).get('data') as Buffer);
    chunk[7] = 0;
    await chunkAt(ref.sha256, 2).set({ data: chunk });
    const damaged = {
      name: 'UndecodableDocument',
      message: expect.stringContaining('do not match their hash'),
    };
    await expect(runs.readPayload('run_1', ref)).rejects.toMatchObject(damaged);
  });

  test('with a chunk that is not bytes is undecodable', async () => {
    const ref = await runs.writePayload('run_1', '"short"');
    await chunkAt(ref.sha256, 0).set({ data: '"short"' });
    await expect(runs.readPayload('run_1', ref)).rejects.toThrow(/member 'data': expected bytes/);
  });

  test('is removed completely, even if only a part of it exists', async () => {
    const ref = await runs.writePayload('run_1', text);
    await chunkAt(ref.sha256, 0).delete();
    await runs.deletePayload('run_1', ref);
    expect((await db.collection('gwi_runs/run_1/payloads').get()).size).toBe(0);
  });
});

describe('a memo in Firestore', () => {
  test('is stored under its step, by revision and name', async () => {
    await runs.createMemo('run_1', { step: 'crawl[a/b]', revision: 2, name: 'page 1', text: '[1]' });
    const found = await db.doc('gwi_runs/run_1/steps/crawl%5Ba%2Fb%5D/memos/2-page%201').get();
    expect(found.data()).toEqual({ revision: 2, name: 'page 1', value: '[1]' });
  });
});
