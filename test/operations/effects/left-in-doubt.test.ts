/** Resolution of an effect that an ended run left in doubt. */
import { describe, expect, test } from '@jest/globals';
import { isInDoubt } from '../../../packages/cairn/src/core/effects/effect.ts';
import { NewerSchemaError } from '../../../packages/cairn/src/core/run/events.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { MemoryRunFinder } from '../../../packages/cairn/src/memory/memory-run-finder.ts';
import type { ResolveRequest } from '../../../packages/cairn/src/operations/effects/resolution.ts';
import { MAX_QUESTIONS_OF_RUN, readInbox } from '../../../packages/cairn/src/operations/inbox/read-inbox.ts';
import { OutcomeUnknown } from '../../../packages/cairn/src/ports/store-errors.ts';
import { intercept } from '../../support/intercept.ts';
import type { OutsideOptions } from '../../support/outside.ts';
import { assertStored } from '../../support/soundness.ts';
import { preview, succeed } from '../../support/successors.ts';
import { settle } from '../../support/virtual-clock.ts';
import { Left } from './left.ts';

const NOBODY = { runs: [], answers: [], found: 0 };

describe('an effect in doubt of an ended run', () => {
  test.each([
    ['cancelled', () => Left.cancelled(), ['recorded', 'failed', 'resume']],
    ['completed', () => Left.completed(), ['recorded', 'failed']],
  ] as const)(
    'is resolved in the ledger alone, without an event in the journal: %s',
    async (status, make, answers) => {
      for (const outcome of ['recorded', 'failed'] as const) {
        const left = await make();
        const before = left.state;
        expect(before.status).toBe(status);
        expect(await left.problems()).toEqual(['EFFECT_IN_DOUBT_AT_END']);
        expect(await left.inbox()).toEqual({ runs: [left.runId], answers, found: 1 });
        const result = outcome === 'recorded' ? { result: { id: 7 } } : {};
        const resolved = await left.resolve({ outcome, ...result, note: 'I looked' });
        expect(resolved).toMatchObject({ outcome, resolvedBy: 'c.ann', effectId: left.row.effectId });
        expect(left.row).toMatchObject({
          status: outcome,
          resolution: { outcome, by: 'c.ann', at: resolved.resolvedAt, note: 'I looked' },
        });
        expect(left.row.resultText).toBe(outcome === 'recorded' ? '{"id":7}' : undefined);
        expect(left.row.blockedBy).toBeUndefined();
        expect(left.state).toEqual(before);
        expect(await left.problems()).toEqual([]);
        expect(await left.inbox()).toEqual(NOBODY);
        expect(left.world.queue.due(Number.POSITIVE_INFINITY)).toEqual([]);
        assertStored(left.world.db, left.runId);
      }
    },
  );

  test('is resolved once: the same resolution gets the same answer, another one is refused', async () => {
    const left = await Left.cancelled();
    const words = [
      left.resolve({ actor: 'c.ann' }),
      left.resolve({ outcome: 'failed', actor: 'c.bob' }),
      left.resolve({ result: { id: 8 }, actor: 'c.eve' }),
    ];
    const ends = await Promise.allSettled(words);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const end of ends)
      if (end.status === 'rejected') expect(end.reason).toMatchObject({ code: 'EFFECT_RESOLVED' });
    const { resolution, resultText } = left.row;
    const same = resolution?.outcome === 'failed' ? {} : { result: JSON.parse(resultText ?? '') };
    const again = await left.resolve({ outcome: resolution?.outcome ?? 'failed', ...same, actor: 'c.zoe' });
    expect(again).toMatchObject({ resolvedBy: resolution?.by, resolvedAt: resolution?.at });
  });

  test('is resolved although the answer of the store was lost', async () => {
    const left = await Left.cancelled();
    const { deps } = left.world;
    let lost = 0;
    const effects = intercept(deps.effects, async ({ method }, proceed) => {
      const answer = await proceed();
      if (method !== 'change' || ++lost > 2) return answer;
      throw new OutcomeUnknown('change of an effect', new Error('the answer was lost'));
    });
    const resolved = left.resolve({}, { ...deps, effects });
    await left.world.run(() => left.row.resolution !== undefined && lost > 2);
    expect(await resolved).toMatchObject({ outcome: 'recorded', resolvedBy: 'c.ann' });
  });

  test('keeps the resolution of a person when the call answers late; the answer is kept as evidence', async () => {
    const left = new Left();
    const { promise: heard, resolve: hear } = Promise.withResolvers<void>();
    left.outside.onCall = () => heard;
    left.runId = await left.world.start('post');
    for (const task of left.world.queue.due(left.world.clock.now())) left.world.queue.take(task.id);
    void drive(left.world.deps, { runId: left.runId });
    await settle();
    await left.cancel(left.runId);
    await left.resolve({ outcome: 'failed' });
    hear();
    await left.world.run();
    expect(left.row).toMatchObject({ status: 'failed', lateAnswer: { responseHash: expect.any(String) } });
    expect([await left.problems(), await left.inbox()]).toEqual([[], NOBODY]);
  });

  test('leaves the inbox once a late answer arrives, without a resolution', async () => {
    const left = await Left.cancelled();
    const { deps, db } = left.world;
    const stored = await deps.effects.read(left.row.effectId);
    const answer = { resultText: '{"id":1}', responseHash: 'h'.repeat(64) };
    await deps.effects.change(left.row.effectId, stored?.version ?? '', {
      status: 'recorded',
      ...answer,
      updatedAt: 1,
    });
    expect(db.runs.get(left.runId)?.askingSince).toBeDefined();
    expect(await left.inbox()).toEqual(NOBODY);
  });

  test('is shown until it is resolved, however many there are', async () => {
    const most = MAX_QUESTIONS_OF_RUN;
    const left = await Left.cancelled({}, 'many', most + 2);
    const { effects } = left.state;
    for (const { effectId } of effects.slice(0, most + 1))
      await left.resolve({ effectId, outcome: 'failed' });
    expect((await left.inbox()).runs).toEqual([left.runId]);
    await left.resolve({ effectId: effects.at(-1)?.effectId ?? '', outcome: 'failed' });
    expect(await left.inbox()).toEqual(NOBODY);
  });
});

describe('a successor of a run with an effect in doubt', () => {
  test.each(['resume', 'replay', 'fork'] as const)('made by %s reuses what was recorded', async (mode) => {
    const left = await Left.cancelled();
    await left.resolve();
    const { effects } = await preview(left.world, mode, left.runId);
    expect(effects).toMatchObject([{ action: 'reused', why: 'recorded' }]);
    const next = await succeed(left.world, mode, left.runId);
    await left.world.run();
    expect(left.world.stateOf(next)).toMatchObject({
      status: 'completed',
      result: { text: '{"sent":{"id":7}}' },
    });
    expect(left.outside.calls).toBe(1);
    expect([await left.problems(), await left.problems(next)]).toEqual([[], []]);
  });

  test('acts itself if the effect had not taken place', async () => {
    const left = await Left.cancelled();
    await left.resolve({ outcome: 'failed' });
    const next = await succeed(left.world, 'resume', left.runId);
    await left.world.run();
    expect([left.world.stateOf(next).status, left.outside.calls]).toEqual(['completed', 2]);
  });

  /** The successor has read the row before the person answers. */
  async function raced(options: OutsideOptions, said: Partial<ResolveRequest>) {
    const left = await Left.cancelled(options);
    const { deps } = left.world;
    const next = await succeed(left.world, 'resume', left.runId);
    let resolution: Promise<unknown> | undefined;
    const effects = intercept(deps.effects, async ({ method }, proceed) => {
      const rows = await proceed();
      if (method === 'rowsOf') resolution ??= left.resolve(said).catch((error: unknown) => error);
      await resolution;
      return rows;
    });
    await left.world.run(() => left.world.stateOf(next).status === 'awaiting_approval', { ...deps, effects });
    return { left, next, spoken: await resolution };
  }

  test.each([
    ['would ask', {}],
    ['would look', { withLookup: true }],
    ['would call again', { idempotency: 'required' }],
  ] as const)('made by %s uses the resolution that was written first', async (_, options) => {
    const { left, next, spoken } = await raced(options, {});
    expect(spoken).toMatchObject({ outcome: 'recorded' });
    expect(left.world.stateOf(next)).toMatchObject({
      status: 'completed',
      result: { text: '{"sent":{"id":7}}' },
    });
    expect(left.outside.calls).toBe(1);
    expect([await left.problems(), await left.problems(next), await left.inbox()]).toEqual([[], [], NOBODY]);
  });

  test('that asks about the effect takes the resolution, which ends its wait', async () => {
    const left = await Left.cancelled();
    const { deps } = left.world;
    const next = await succeed(left.world, 'replay', left.runId);
    // The run asks after the person has read the question.
    let isFirst = true;
    const store = intercept(deps.store, async ({ method }, proceed) => {
      const answer = await proceed();
      if (method === 'load' && isFirst) {
        isFirst = false;
        await left.untilAsked(next);
      }
      return answer;
    });
    await expect(left.resolve({}, { ...deps, store })).rejects.toMatchObject({
      code: 'RUN_INVALID_TRANSITION',
      details: { runId: next },
    });
    expect(isInDoubt(left.row)).toBe(true);
    expect((await left.inbox()).runs).toEqual([next]);
    await left.resolve({ runId: next });
    await left.world.run();
    expect([left.world.stateOf(next).status, left.outside.calls]).toEqual(['completed', 1]);
    expect([await left.problems(), await left.problems(next), await left.inbox()]).toEqual([[], [], NOBODY]);
  });

  test('that calls again under the same key owns the doubt: the first call no longer asks', async () => {
    const left = await Left.cancelled({ idempotency: 'required' });
    const next = await succeed(left.world, 'resume', left.runId);
    await left.world.run();
    expect([left.world.stateOf(next).status, left.outside.applied.length]).toEqual(['completed', 1]);
    expect(left.row).toMatchObject({
      status: 'blocked',
      resolution: { outcome: 're-execute', by: `run ${next}` },
    });
    expect([await left.problems(), await left.problems(next), await left.inbox()]).toEqual([[], [], NOBODY]);
  });

  test('that ends in doubt leaves the question to people, who may answer it at either run', async () => {
    for (const at of ['source', 'successor'] as const) {
      const left = await Left.cancelled();
      const next = await succeed(left.world, 'resume', left.runId);
      expect((await left.inbox()).runs).toEqual([]);
      await left.untilAsked(next);
      expect((await left.inbox()).runs).toEqual([next]);
      await left.cancel(next);
      expect(await left.inbox()).toMatchObject({ runs: [left.runId], answers: ['recorded', 'failed'] });
      await left.resolve(at === 'source' ? {} : { runId: next });
      expect([await left.problems(), await left.problems(next), await left.inbox()]).toEqual([
        [],
        [],
        NOBODY,
      ]);
    }
  });
});

test('a run whose successor a newer version wrote does not hide the questions of others', async () => {
  const left = await Left.cancelled();
  const next = await succeed(left.world, 'resume', left.runId);
  const asking = await left.world.start('reviewed');
  await left.world.run(() => left.world.stateOf(asking).waits.length > 0);
  const { deps, db } = left.world;
  const store = intercept(deps.store, async ({ method, args }, proceed) => {
    if (method === 'load' && args[0] === next) throw new NewerSchemaError(`run ${next}`, 99);
    return proceed();
  });
  const page = await readInbox({ ...deps, store, finder: new MemoryRunFinder(db) }, 't1', { limit: 10 });
  expect(page.items.map(({ run }) => run.id)).toContain(asking);
  expect(page.unreadable).toEqual([left.runId]);
});

test('an ended run in doubt that the inbox no longer finds is named by the check', async () => {
  const left = await Left.cancelled();
  const run = left.world.db.runs.get(left.runId);
  if (!run) throw new Error('there is no run');
  run.askingSince = undefined;
  expect(await left.problems()).toEqual(['INBOX_WRONG', 'EFFECT_IN_DOUBT_AT_END']);
});
