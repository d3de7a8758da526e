import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Faults } from '../../../packages/local-firestore/src/faults.ts';
import { type Bench, startBench } from './support/client.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench.stop());
afterEach(() => bench.server.faults.clear());

describe('an injected fault', () => {
  test('that loses a response leaves the commit applied, and a retry finds it', async () => {
    const { db, server } = bench;
    server.faults.set([{ call: 'Commit', probability: 1, times: 1, fault: { kind: 'lost-answer' } }], 1);
    await expect(db.doc('f/lost').create({ v: 1 })).rejects.toMatchObject({ code: 6 });
    expect((await db.doc('f/lost').get()).get('v')).toBe(1);
    expect(server.faults.injected()).toEqual({ 'lost-answer': 1 });
  });

  test('UNAVAILABLE is retried by the client, and the write applies once', async () => {
    const { db, server } = bench;
    server.faults.set([{ call: 'Commit', probability: 1, times: 1, fault: { kind: 'unavailable' } }], 1);
    await db.doc('f/once').create({ v: 1 });
    expect(server.meter.document('projects/demo-cairn/databases/(default)/documents/f/once')).toMatchObject({
      writes: 1,
    });
  });

  test('ABORTED makes the client retry a transaction', async () => {
    const { db, server } = bench;
    server.faults.set([{ call: 'Commit', probability: 1, times: 1, fault: { kind: 'aborted' } }], 1);
    let attempts = 0;
    await db.runTransaction(async (transaction) => {
      attempts++;
      await transaction.get(db.doc('f/tx'));
      transaction.set(db.doc('f/tx'), { attempts });
    });
    expect(attempts).toBe(2);
    expect((await db.doc('f/tx').get()).get('attempts')).toBe(2);
  });

  test('that cuts a stream makes the client resume after the last document it saw', async () => {
    const { db, server } = bench;
    const batch = db.batch();
    for (let i = 0; i < 20; i++) batch.set(db.doc(`cut/d${String(i).padStart(2, '0')}`), { i });
    await batch.commit();
    server.faults.set(
      [{ call: 'RunQuery', probability: 1, times: 1, fault: { kind: 'cut-stream', afterMessages: 7 } }],
      1,
    );
    const found = await db.collection('cut').orderBy('i').get();
    expect(found.docs.map((d) => d.get('i'))).toEqual(Array.from({ length: 20 }, (_, i) => i));
    expect(server.faults.injected()).toEqual({ 'cut-stream': 1 });
  });

  test('that crashes the server does so after the commit is durable and before its response', async () => {
    let crashes = 0;
    const doomed = await startBench({ crash: () => crashes++ });
    doomed.server.faults.set(
      [{ call: 'Commit', probability: 1, after: 1, times: 1, fault: { kind: 'crash' } }],
      1,
    );
    await doomed.db.doc('f/spared').create({});
    expect(crashes).toBe(0);
    await expect(doomed.db.doc('f/crashed').create({})).rejects.toMatchObject({ code: 6 });
    expect(crashes).toBe(1);
    await doomed.stop();
    const rule = { probability: 1, fault: { kind: 'crash' } } as const;
    expect(() => bench.server.faults.set([rule], 1)).toThrow(/cannot be made to crash/);
  });

  test('on one path does not affect others', async () => {
    const { db, server } = bench;
    server.faults.set([{ path: '/victims/', probability: 1, times: 1, fault: { kind: 'aborted' } }], 1);
    await db.doc('f/spared').set({});
    await db.collection('bystanders').get();
    expect(server.faults.injected()).toEqual({});
    await db.doc('victims/v').set({});
    expect(server.faults.injected()).toEqual({ aborted: 1 });
  });

  test('is drawn from the seed alone', () => {
    const draws = (seed: number) => {
      const faults = new Faults();
      faults.set([{ probability: 0.3, fault: { kind: 'aborted' } }], seed);
      return Array.from({ length: 200 }, () => faults.draw('Commit', () => []) !== undefined);
    };
    expect(draws(7)).toEqual(draws(7));
    expect(draws(7)).not.toEqual(draws(8));
    const share = draws(7).filter(Boolean).length / 200;
    expect(share).toBeGreaterThan(0.2);
    expect(share).toBeLessThan(0.4);
  });
});
