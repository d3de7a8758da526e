import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import { isSettled } from '../../../packages/cairn/src/core/run/events.ts';
import { stepKey } from '../../../packages/cairn/src/core/run/state.ts';
import { degraded } from '../../../packages/cairn/src/engine/define/body-result.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { From } from '../../../packages/cairn/src/operations/successors/request.ts';
import { assertStored } from '../../support/soundness.ts';
import { preview, reusedIn, succeed } from '../../support/successors.ts';
import { World } from '../../support/world.ts';

/** Number of inputs, which take some seconds; `FUZZ_INPUTS=3000` before the command that runs this test tries more. */
const INPUTS = Number(process.env.FUZZ_INPUTS ?? 120);

type Acts = 'returns' | 'fails' | 'skips' | 'degrades' | 'is skipped' | 'sleeps' | 'maps' | 'half maps';

interface Drawn {
  readonly needs: readonly number[];
  readonly acts: Acts;
  readonly resumable: boolean;
  readonly undoable: boolean;
  readonly ifSkipped: 'skip' | 'run';
}

interface Case {
  readonly steps: readonly Drawn[];
  readonly asked: readonly {
    readonly mode: 'resume' | 'replay' | 'fork';
    readonly from: { readonly step: number } | { readonly checkpoint: number } | undefined;
    readonly input: boolean;
    /** True if the earlier failure is fixed. */
    readonly mended: boolean;
  }[];
}

const acts = fc.constantFrom<Acts>(
  'returns',
  'returns',
  'returns',
  'fails',
  'skips',
  'degrades',
  'is skipped',
  'sleeps',
  'maps',
  'half maps',
);
const drawn = fc.record({
  resumable: fc.constant(true),
  needs: fc.array(fc.nat(20), { maxLength: 2 }),
  acts,
  undoable: fc.boolean(),
  ifSkipped: fc.constantFrom('skip' as const, 'run' as const),
});
const cases: fc.Arbitrary<Case> = fc.record({
  steps: fc.array(
    fc.tuple(drawn, fc.nat(5)).map(([one, rare]) => ({ ...one, resumable: rare > 0 })),
    {
      minLength: 1,
      maxLength: 7,
    },
  ),
  asked: fc.array(
    fc.record({
      mode: fc.constantFrom('resume' as const, 'replay' as const, 'fork' as const),
      from: fc.oneof(
        fc.constant(undefined),
        fc.record({ step: fc.nat(20) }),
        fc.record({ checkpoint: fc.nat(20) }),
      ),
      input: fc.nat(4).map((one) => one === 0),
      mended: fc.boolean(),
    }),
    { minLength: 1, maxLength: 3 },
  ),
});

/** Bodies that ran since it was emptied, by the key of their step. */
interface Stage {
  mended: boolean;
  readonly ran: string[];
}

function workflowOf({ steps }: Case, stage: Stage): Workflow {
  return defineWorkflow({
    type: 'drawn',
    planVersion: 1,
    input: z.unknown(),
    steps(step) {
      const handles: Record<string, never> = {};
      for (const [i, one] of steps.entries()) {
        const before = i === 0 ? [] : one.needs.map((need) => need % i);
        const id = `s${i}`;
        const needs = Object.fromEntries(before.map((n) => [`n${n}`, handles[`s${n}`]])) as object;
        const fails = () => !stage.mended;
        const common = { needs, ifSkipped: one.ifSkipped };
        const body = (index?: number) => {
          stage.ran.push(index === undefined ? id : `${id}[${index}]`);
          if (one.acts === 'fails' && fails()) throw new Fatal('no');
          if (one.acts === 'half maps' && index === 1 && fails()) throw new Fatal('no');
          if (one.acts === 'skips') throw new Fatal('never mind');
          return one.acts === 'degrades' ? degraded(i, 'half') : [i, index ?? null];
        };
        const undo = one.undoable ? { compensate: () => {} } : {};
        const options = {
          ...common,
          resumable: one.resumable,
          ...undo,
          ...(one.acts === 'skips' ? { onFailure: 'skip' } : {}),
        } as object;
        handles[id] = (
          one.acts === 'sleeps'
            ? step.sleep(id, { ...common, for: '10s' } as never)
            : one.acts === 'maps' || one.acts === 'half maps'
              ? step.map(
                  id,
                  { ...options, over: () => [0, 1, 2] } as never,
                  (({ index }: { index: number }) => body(index)) as never,
                )
              : step(
                  id,
                  { ...options, ...(one.acts === 'is skipped' ? { when: () => false } : {}) } as never,
                  (() => body()) as never,
                )
        ) as never;
      }
      return handles;
    },
  });
}

test(
  'a preview lists exactly what the successor then reuses, and what it runs',
  async () => {
    const seen = { reused: 0, ran: 0, items: 0, refused: 0, from: 0 };
    await fc.assert(
      fc.asyncProperty(cases, async (drawnCase) => {
        const stage: Stage = { mended: false, ran: [] };
        const world = new World({ workflows: [workflowOf(drawnCase, stage)] });
        let runId = await world.start('drawn', { n: 1 });
        await world.run();
        for (const { mode, from, input, mended } of drawnCase.asked) {
          const source = assertStored(world.db, runId);
          const checkpoints = [...(world.db.runs.get(runId)?.checkpoints.keys() ?? [])];
          const at: From | undefined =
            from &&
            ('step' in from
              ? { step: `s${from.step % drawnCase.steps.length}` }
              : { checkpoint: checkpoints[from.checkpoint % checkpoints.length] ?? 1 });
          const wanted = { from: at, ...(mode === 'fork' && input ? { input: { value: { n: 2 } } } : {}) };
          stage.mended = mended;
          const previewResult = await preview(world, mode, runId, wanted);
          stage.ran.length = 0;
          if (previewResult.would !== 'start_successor') {
            seen.refused += 1;
            await expect(succeed(world, mode, runId, wanted)).rejects.toMatchObject({
              code: previewResult.blockers[0]?.code,
            });
            continue;
          }
          const successor = await succeed(world, mode, runId, wanted);
          await world.run();
          const state = assertStored(world.db, successor);
          expect(assertStored(world.db, runId).status).toBe(source.status);

          const reused = reusedIn(world, successor);
          const steps = reused.filter((key) => !key.includes('['));
          expect(steps.sort()).toEqual(
            previewResult.steps.flatMap(({ id, action }) => (action === 'reused' ? [id] : [])).sort(),
          );
          const runs = new Map(
            previewResult.steps.flatMap((one) => (one.action === 'runs' ? [[one.id, one]] : [])),
          );
          for (const key of stage.ran) expect([...runs.keys()]).toContain(key.split('[')[0]);
          // No reused item ran, and as many were reused as predicted.
          expect(stage.ran.filter((key) => reused.includes(key))).toEqual([]);
          for (const [id, { items }] of runs) {
            expect([id, reused.filter((key) => key.startsWith(`${id}[`)).length]).toEqual([id, items]);
            seen.items += items;
          }
          // Steps ran with the predicted revision; if all succeeded, every predicted step ran.
          const { events = [] } = world.db.runs.get(successor) ?? {};
          const ended = events.flatMap((event) =>
            isSettled(event) && event.type !== 'step_reused' ? [event.data] : [],
          );
          for (const data of ended) expect(data.revision).toBe(runs.get(data.stepId)?.revision);
          if (state.status === 'completed') {
            const keys = new Set(ended.map(stepKey));
            expect([...runs.keys()].filter((id) => !keys.has(id))).toEqual([]);
          }
          seen.reused += steps.length;
          seen.ran += runs.size;
          if (at) seen.from += 1;
          runId = successor;
        }
      }),
      { numRuns: INPUTS, seed: 7 },
    );
    // Every case occurred.
    expect(Object.values(seen).every((count) => count > INPUTS / 20)).toBe(true);
  },
  60_000 + INPUTS * 100,
);
