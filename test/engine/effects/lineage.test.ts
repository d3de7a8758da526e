/** Effects of a successor that were recorded before it (E3, E4, E6). */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { EffectRecord, ReplayPolicy } from '../../../packages/cairn/src/core/effects/effect.ts';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import type { SuccessorMode } from '../../../packages/cairn/src/core/run/events.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { resolveEffect } from '../../../packages/cairn/src/operations/effects/resolve-effect.ts';
import type { SuccessorRequest } from '../../../packages/cairn/src/operations/successors/request.ts';
import { startSuccessor } from '../../../packages/cairn/src/operations/successors/start-successor.ts';
import { Outside, type OutsideOptions } from '../../support/outside.ts';
import { World } from '../../support/world.ts';

/** Two actions in a row; the request of the second depends on the input. */
class Lineage {
  readonly outside: Outside;
  readonly world: World;
  isBroken = false;

  constructor(options: OutsideOptions = {}) {
    const outside = new Outside(options);
    this.outside = outside;
    const uses = [outside.capability];
    const workflow = defineWorkflow({
      type: 'post',
      planVersion: 1,
      input: z.object({ name: z.string() }),
      steps: (step) => {
        const first = step('first', { uses }, ({ perform }) =>
          perform(outside.capability, { text: 'always' }),
        );
        const second = step('second', { needs: { first }, uses }, ({ input, perform }) =>
          perform(outside.capability, { text: `for ${input.name}` }),
        );
        const end = step('end', { needs: { second } }, () => {
          if (this.isBroken) throw new Fatal('broken');
          return 'ended';
        });
        return { end };
      },
    });
    this.world = new World({ workflows: [workflow], bindings: [outside.binding] });
  }

  async source(): Promise<string> {
    const id = await this.world.start('post', { name: 'ann' });
    await this.world.run();
    return id;
  }

  async successor(runId: string, mode: SuccessorMode, more: Partial<SuccessorRequest> = {}): Promise<string> {
    const deps = { ...this.world.deps, records: this.world.records };
    const outcome = await startSuccessor(deps, {
      runId,
      tenantId: 't1',
      mode,
      actor: 'c.ann',
      key: undefined,
      requestHash: '',
      force: false,
      ...more,
    });
    if (outcome.kind === 'in_flight') throw new Error('in flight');
    await this.world.run();
    return outcome.runId;
  }

  rowsOf(runId: string): EffectRecord[] {
    const rows = [...this.world.db.effects.values()].map(({ record }) => record);
    return rows.filter((row) => row.runId === runId);
  }

  statusesOf(runId: string): string[] {
    return this.rowsOf(runId).map(({ status }) => status);
  }

  status(runId: string) {
    return this.world.stateOf(runId).status;
  }

  async answer(runId: string, outcome: 're-execute' | 'recorded' | 'failed'): Promise<void> {
    const effectId = this.world.stateOf(runId).waits[0]?.effectId ?? 'none';
    await resolveEffect(this.world.deps, { runId, tenantId: 't1', effectId, outcome, actor: 'c.ann' });
    await this.world.run();
  }
}

function lineage(replayPolicy: ReplayPolicy = 'use_recorded_result', more: OutsideOptions = {}): Lineage {
  return new Lineage({ replayPolicy, ...more });
}

describe('a replay of a completed run', () => {
  test('makes no call by default: every one is answered by its record', async () => {
    const l = lineage();
    const source = await l.source();
    const replay = await l.successor(source, 'replay');
    expect(l.status(replay)).toBe('completed');
    expect(l.outside.calls).toBe(2);
    expect(l.statusesOf(replay)).toEqual(['reused', 'reused']);
    const origins = l.rowsOf(source).map(({ effectId }) => effectId);
    expect(l.rowsOf(replay).map(({ originEffectId }) => originEffectId)).toEqual(origins);
  });

  test('makes each call once more where that is the policy, in its own rows, however often it is retried', async () => {
    const l = lineage('reexecute');
    const source = await l.source();
    const replay = await l.successor(source, 'replay');
    expect(l.status(replay)).toBe('completed');
    expect(l.outside.applied.map(({ text }) => text)).toEqual(['always', 'for ann', 'always', 'for ann']);
    expect(l.outside.twice).toEqual([]);
    expect(l.statusesOf(source)).toEqual(['recorded', 'recorded']);
    expect(l.statusesOf(replay)).toEqual(['recorded', 'recorded']);
  });

  test('asks a person where that is the policy, and makes each approved call once', async () => {
    const l = lineage('require_human');
    const source = await l.source();
    const replay = await l.successor(source, 'replay');
    expect(l.status(replay)).toBe('awaiting_approval');
    expect(l.outside.calls).toBe(2);
    await l.answer(replay, 're-execute');
    expect(l.status(replay)).toBe('awaiting_approval');
    await l.answer(replay, 're-execute');
    expect(l.status(replay)).toBe('completed');
    expect(l.outside.calls).toBe(4);
    expect(l.outside.twice).toEqual([]);
  });

  test('uses the record, or fails the step, as the person answers', async () => {
    const l = lineage('require_human');
    const source = await l.source();
    const replay = await l.successor(source, 'replay');
    await l.answer(replay, 'recorded');
    await l.answer(replay, 'failed');
    expect(l.status(replay)).toBe('failed');
    expect(l.outside.calls).toBe(2);
    expect(l.statusesOf(replay)).toEqual(['blocked', 'reused', 'blocked']);
  });

  test('of a replay that acted anew uses the records of that replay', async () => {
    const l = lineage('require_human');
    const source = await l.source();
    const replay = await l.successor(source, 'replay');
    await l.answer(replay, 're-execute');
    await l.answer(replay, 're-execute');
    const again = await l.successor(replay, 'replay');
    await l.answer(again, 'recorded');
    await l.answer(again, 'recorded');
    expect(l.status(again)).toBe('completed');
    expect(l.outside.calls).toBe(4);
    const origins = l.rowsOf(replay).filter(({ status }) => status === 'recorded');
    const reused = l.rowsOf(again).filter(({ status }) => status === 'reused');
    expect(reused.map(({ originEffectId }) => originEffectId)).toEqual(
      origins.map(({ effectId }) => effectId),
    );
  });

  test.each(['use_recorded_result', 'reexecute'] as const)('by %s survives a lost answer', async (policy) => {
    const l = lineage(policy, { withLookup: true });
    const source = await l.source();
    l.outside.faults.push('lose_answer', 'lose_answer');
    const replay = await l.successor(source, 'replay');
    expect(l.status(replay)).toBe('completed');
    expect(l.outside.twice).toEqual([]);
    expect(l.outside.applied).toHaveLength(policy === 'reexecute' ? 4 : 2);
  });
});

describe('a fork with another input', () => {
  test('reuses equal requests, and makes calls for changed ones', async () => {
    const l = lineage();
    const source = await l.source();
    const fork = await l.successor(source, 'fork', { input: { value: { name: 'bob' } } });
    expect(l.status(fork)).toBe('completed');
    expect(l.outside.applied.map(({ text }) => text)).toEqual(['always', 'for ann', 'for bob']);
    expect(l.statusesOf(fork)).toEqual(['reused', 'recorded']);
    expect(l.outside.twice).toEqual([]);
  });

  test('makes such a call once, however often its answer is lost', async () => {
    const l = lineage('use_recorded_result', { withLookup: true });
    const source = await l.source();
    l.outside.faults.push('lose_answer');
    const fork = await l.successor(source, 'fork', { input: { value: { name: 'bob' } } });
    expect(l.status(fork)).toBe('completed');
    expect(l.outside.applied.map(({ text }) => text)).toEqual(['always', 'for ann', 'for bob']);
  });
});

describe('a resume of a failed run', () => {
  test.each(['use_recorded_result', 'reexecute', 'require_human'] as const)(
    'repeats no completed call, also by %s',
    async (policy) => {
      const l = lineage(policy);
      l.isBroken = true;
      const source = await l.source();
      expect(l.status(source)).toBe('failed');
      const before = l.world.db.runs.get(source)?.events.length ?? 0;
      l.isBroken = false;
      const resumed = await l.successor(source, 'resume');
      expect(l.status(resumed)).toBe('completed');
      expect(l.outside.calls).toBe(2);
      const added = l.world.db.runs
        .get(source)
        ?.events.slice(before)
        .map(({ type }) => type);
      expect(added).toEqual(['run_superseded']);
      expect(l.world.stateOf(source).supersededBy).toBe(resumed);
      expect(l.world.stateOf(resumed).resumedFrom).toBe(source);
    },
  );

  test('resolves the doubt that its source left', async () => {
    const l = lineage('use_recorded_result', { withLookup: true });
    l.outside.faults.push(undefined, 'lose_answer');
    const source = await l.world.start('post', { name: 'ann' });
    await l.world.run();
    expect(l.status(source)).toBe('completed');
    expect(l.outside.twice).toEqual([]);
  });
});
