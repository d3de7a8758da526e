import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type EffectRecord, RESOLUTIONS } from '../../packages/cairn/src/core/effects/effect.ts';
import { externalOwner } from '../../packages/cairn/src/core/effects/external.ts';
import { externalProblems } from '../../packages/cairn/src/core/integrity/external.ts';
import { checkConsistency } from '../../packages/cairn/src/operations/integrity/check.ts';
import { CrashPlan } from '../../packages/cairn/src/testing/world/crash-plan.ts';
import { KINDS, type Kind, Scene } from '../engine/external/scene.ts';
import { MemoryIntegrityStore } from '../support/memory/memory-integrity-store.ts';

const OWNER = externalOwner('t1', 'order-7');
const KEPT_MS = 400 * 86_400_000;

function check({ world }: Scene, tenantId = 't1', runId = OWNER) {
  const reader = new MemoryIntegrityStore(world.db);
  return checkConsistency({ ...world.deps, reader, payloads: world.store }, { runId, tenantId });
}

/** The rows after a process died at a call of its, another one went on, and a person answered. */
async function rowsAfter(kind: Kind, plan: CrashPlan, keepMs?: number): Promise<Scene> {
  const scene = new Scene(kind);
  scene.keepMs = keepMs;
  await scene.until(scene.once(scene.process(plan)));
  return scene;
}

describe.each(KINDS)('rows of effects without a run, of a receiver asked again by %s', (kind) => {
  test.each([undefined, KEPT_MS])(
    'are consistent wherever a process dies, kept for %s ms',
    async (keepMs) => {
      const whole = new CrashPlan();
      await rowsAfter(kind, whole, keepMs);
      for (const call of whole.made.keys()) {
        for (const outcome of RESOLUTIONS) {
          const scene = await rowsAfter(kind, new CrashPlan({ call, moment: 'after' }), keepMs);
          if (scene.world.db.effects.size === 0) continue;
          expect(await check(scene)).toMatchObject({ problems: [] });
          await scene.until(scene.once(scene.process()));
          expect(await check(scene)).toMatchObject({ problems: [] });
          for (const row of await scene.openQuestions()) await scene.resolve(row, outcome);
          expect(await check(scene)).toMatchObject({ problems: [] });
          await scene.until(scene.once(scene.process()));
          expect(await check(scene)).toMatchObject({ runId: OWNER, problems: [], unread: [] });
        }
      }
    },
  );
});

async function recorded(): Promise<EffectRecord> {
  const scene = await rowsAfter('ask', new CrashPlan());
  return rowOf(scene);
}

/** The process died during the call. */
async function attempted(): Promise<EffectRecord> {
  const scene = new Scene('ask');
  scene.answer = () => new Promise(() => {});
  const once = scene.once(scene.process());
  await scene.until(once, 1_000);
  return rowOf(scene);
}

function rowOf({ world }: Scene): EffectRecord {
  const [stored] = world.db.effects.values();
  if (!stored) throw new Error('no row was written');
  return stored.record;
}

function found(rows: readonly EffectRecord[]) {
  return rows.map((value) => ({ kind: 'sound' as const, id: value.effectId, version: 'v', value }));
}

function membersOf(row: EffectRecord, change: object): unknown {
  const [one] = found([row]);
  const value = { ...row, ...change } as EffectRecord;
  return externalProblems(OWNER, [{ ...one!, value }]).map(({ code, evidence }) => [code, evidence.members]);
}

test.each([
  ['recorded', recorded],
  ['attempted', attempted],
])(
  'each member that the ledger vouches for, of a row that is %s, is reported if it is changed',
  async (status, make) => {
    const row = await make();
    expect(row.status).toBe(status);
    expect(externalProblems(OWNER, found([row]))).toEqual([]);
    for (const [name, value] of Object.entries({
      ...{ runId: 'external:t1:other', rootRunId: 'run_x', tenantId: 't2', stepId: 'pay', itemKey: '1' },
      ...{ revision: 2, epoch: 1, call: 'order-8' },
    }))
      expect(membersOf(row, { [name]: value })).toEqual([['EFFECT_DIFFERENT', [name]]]);
    expect(membersOf(row, { capabilityId: 'bank.refund' })).toEqual([
      ['EFFECT_DIFFERENT', ['idempotencyKey']],
    ]);
    expect(membersOf(row, { n: 2 })).toEqual([['EFFECT_DIFFERENT', ['effectId']]]);
    expect(membersOf(row, { effectId: 'x' })).toEqual([['EFFECT_DIFFERENT', ['effectId']]]);
  },
);

test('a status that contradicts the time since which a person is asked is reported', async () => {
  const [done, open] = [await recorded(), await attempted()];
  const different = (...members: string[]) => [['EFFECT_DIFFERENT', members]];
  expect(membersOf(done, { askingSince: 1 })).toEqual(different('askingSince'));
  expect(membersOf(open, { askingSince: undefined })).toEqual(different('askingSince'));
  expect(membersOf(open, { expiresAt: 1 })).toEqual(different('expiresAt'));
  expect(membersOf(done, { expiresAt: 1 })).toEqual([]);
  expect(membersOf(open, { status: 'failed' })).toEqual(different('askingSince'));
  expect(membersOf(open, { status: 'blocked', blockedBy: 'doubt' })).toEqual([]);
  expect(membersOf(open, { status: 'blocked', blockedBy: 'mismatch' })).toEqual(different('askingSince'));
});

test('an answer other than the recorded one is reported', async () => {
  const row = await recorded();
  expect(membersOf(row, { resultText: '{"id":"pay_2"}' })).toEqual([['EFFECT_DIFFERENT', ['resultText']]]);
});

test('a missing or unreadable row is reported', async () => {
  const row = await recorded();
  const second = { ...row, n: 3, effectId: row.effectId.replace('0001', '0003') };
  const missing = { code: 'EFFECT_MISSING', subject: `effects/${row.effectId.replace('0001', '0002')}` };
  expect(externalProblems(OWNER, found([row, second]))).toMatchObject([missing]);
  expect(externalProblems(OWNER, found([{ ...row, keepMs: 1 }, second]))).toEqual([]);
  const bad = { kind: 'unreadable' as const, id: 'x', version: 'v', reason: 'no number' };
  expect(externalProblems(OWNER, [...found([row, second]), bad])).toMatchObject([
    { code: 'EFFECT_UNREADABLE', subject: 'effects/x', evidence: { reason: 'no number' } },
  ]);
});

test('the check answers whatever the members of a row are', async () => {
  const row = await recorded();
  const damage = fc.dictionary(fc.constantFrom(...Object.keys(row)), fc.anything(), { minKeys: 1 });
  fc.assert(
    fc.property(damage, (members) => {
      expect(externalProblems(OWNER, found([{ ...row, ...members } as EffectRecord]))).toBeInstanceOf(Array);
    }),
  );
});

test('an owner of another tenant, and one without rows, is not found', async () => {
  const scene = await rowsAfter('ask', new CrashPlan());
  await expect(check(scene, 't2')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  await expect(check(scene, 't1', externalOwner('t1', 'order-8'))).rejects.toMatchObject({
    code: 'RUN_NOT_FOUND',
  });
});
