import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { REPLAY_POLICIES } from '../../../packages/cairn/src/core/effects/effect.ts';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import { SUCCESSOR_MODES } from '../../../packages/cairn/src/core/run/events.ts';
import { isOver } from '../../../packages/cairn/src/core/run/state.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { resolveEffect } from '../../../packages/cairn/src/operations/effects/resolve-effect.ts';
import { Outside, type OutsideOptions } from '../../support/outside.ts';
import { depsOf, preview, succeed } from '../../support/successors.ts';
import { World } from '../../support/world.ts';

const INPUTS = Number(process.env.FUZZ_INPUTS ?? 100);

/** Acts twice in one step, the second time under a key of its own if `keyed`. The next step may fail. */
function posting(options: OutsideOptions, keyed: boolean) {
  const outside = new Outside(options);
  const { capability } = outside;
  const on = { broken: true };
  const workflow = defineWorkflow({
    type: 'post',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const sent = step('send', { uses: [capability] }, async ({ perform }) => [
        await perform(capability, { text: 'first' }),
        await perform(capability, { text: 'second' }, keyed ? { key: 'mine' } : {}),
      ]);
      return {
        end: step('end', { needs: { sent } }, () => {
          if (on.broken) throw new Fatal('broken');
          return 1;
        }),
      };
    },
  });
  return { outside, on, world: new World({ workflows: [workflow], bindings: [outside.binding] }) };
}

type Scene = ReturnType<typeof posting>;

/** Drives the run until it has ended or asks. */
async function rest({ world }: Scene, runId: string): Promise<void> {
  const rests = () => isOver(world.stateOf(runId)) || world.stateOf(runId).status === 'awaiting_approval';
  await world.run(rests);
}

/** Handling of each call of the body by the successor, in order, from its own rows. */
function doneBy({ world }: Scene, runId: string): string[] {
  const rows = [...world.db.effects.values()].map(({ record }) => record);
  const done = rows.flatMap(({ runId: by, status }) => {
    if (by !== runId || status === 'blocked') return [];
    return [status === 'reused' ? 'reused' : 're-executed'];
  });
  // The run before may have asked the question.
  return world.stateOf(runId).status === 'awaiting_approval' ? [...done, 'asked'] : done;
}

/** A person allows every call that is asked about, so that the run continues. */
async function allow({ world }: Scene, runId: string): Promise<void> {
  const effectId = world.stateOf(runId).waits[0]?.effectId ?? 'none';
  const said = { runId, tenantId: 't1', effectId, outcome: 're-execute', actor: 'u.ann' } as const;
  await resolveEffect(depsOf(world) as never, said);
}

const nature = fc.record({
  replayPolicy: fc.constantFrom(...REPLAY_POLICIES),
  idempotency: fc.constantFrom('not_supported' as const, 'required' as const),
});
const requests = fc.array(
  fc.record({ mode: fc.constantFrom(...SUCCESSOR_MODES), broken: fc.boolean(), cancelled: fc.boolean() }),
  { minLength: 1, maxLength: 4 },
);

test(
  'a preview predicts the handling of each side effect, over successors of successors',
  async () => {
    const seen: Record<string, number> = {};
    await fc.assert(
      fc.asyncProperty(nature, fc.boolean(), requests, async (options, keyed, successors) => {
        const scene = posting(options, keyed);
        const { world, on } = scene;
        let runId = await world.start('post', {});
        await rest(scene, runId);
        for (const { mode, broken, cancelled } of successors) {
          on.broken = broken;
          const from = { step: 'send' };
          const previewResult = await preview(world, mode, runId, { from });
          if (previewResult.would !== 'start_successor') return;
          const successor = await succeed(world, mode, runId, { from });
          await rest(scene, successor);
          const expected = previewResult.effects.map(({ action }) => action);
          const done = doneBy(scene, successor);
          // A body that asks stops there. Calls that no run has made are made, and are not predicted.
          const until = expected.indexOf('asked') + 1 || expected.length;
          expect([options, mode, done.slice(0, until)]).toEqual([options, mode, expected.slice(0, until)]);
          for (const action of expected) seen[action] = (seen[action] ?? 0) + 1;
          while (!cancelled && world.stateOf(successor).status === 'awaiting_approval') {
            await allow(scene, successor);
            await rest(scene, successor);
          }
          if (!isOver(world.stateOf(successor))) {
            await cancelRun(depsOf(world), {
              runId: successor,
              tenantId: 't1',
              stopKind: 'user',
              actor: 'u.ann',
            });
            await rest(scene, successor);
          }
          expect(scene.outside.twice).toEqual([]);
          runId = successor;
        }
      }),
      { numRuns: INPUTS, seed: 11 },
    );
    for (const action of ['reused', 're-executed', 'asked'])
      expect(seen[action]).toBeGreaterThan(INPUTS / 10);
  },
  60_000 + INPUTS * 100,
);

test('a side effect in doubt is asked about, looked up, or repeated under its key, as its binding allows', async () => {
  for (const [options, action] of [
    [{}, 'asked'],
    [{ withLookup: true }, 'looked_up'],
    [{ idempotency: 'required' as const }, 're-executed'],
  ] as const) {
    const scene = posting(options, false);
    const { world, outside } = scene;
    outside.faults.push('lose_answer', 'lose_answer', 'lose_answer');
    const runId = await world.start('post', {});
    let calls = 0;
    // The run is cancelled during its first call, whose outcome stays unknown.
    outside.onCall = async () => {
      calls += 1;
      if (calls === 1)
        await cancelRun(depsOf(world), { runId, tenantId: 't1', stopKind: 'user', actor: 'u.ann' });
    };
    await rest(scene, runId);
    expect(world.stateOf(runId).status).toBe('cancelled');
    const { effects } = await preview(world, 'resume', runId);
    expect([options, effects]).toMatchObject([options, [{ stepId: 'send', action, why: 'in_doubt' }]]);
    outside.faults.length = 0;
    const before = outside.calls;
    const resumed = await succeed(world, 'resume', runId);
    await rest(scene, resumed);
    expect([options, outside.lookups > 0]).toEqual([options, action === 'looked_up']);
    expect([options, world.stateOf(resumed).status === 'awaiting_approval']).toEqual([
      options,
      action === 'asked',
    ]);
    expect([options, outside.calls - before]).toEqual([
      options,
      { asked: 0, looked_up: 1, 're-executed': 2 }[action],
    ]);
  }
});
