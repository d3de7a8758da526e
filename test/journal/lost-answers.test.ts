import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import type { EngineDeps } from '../../packages/cairn/src/engine/deps.ts';
import { OutcomeUnknown } from '../../packages/cairn/src/ports/store-errors.ts';
import { intercept } from '../support/intercept.ts';
import { assertStored } from '../support/soundness.ts';
import { World } from '../support/world.ts';

/** Faults of one write, and the error that its sender sees. */
const ACCIDENTS = {
  'applied, answer lost': 'after',
  'never arrived': 'before',
  'applied, and repeated by the client library': 'repeated',
} as const;
type Accident = (typeof ACCIDENTS)[keyof typeof ACCIDENTS];

function fiveSteps() {
  const ran: string[] = [];
  const workflow = defineWorkflow({
    type: 'five-steps',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const first = step('first', () => ran.push('first'));
      const left = step('left', { needs: { first } }, () => ran.push('left'));
      const right = step('right', { needs: { first }, idempotent: false }, () => ran.push('right'));
      const flaky = step('flaky', { needs: { left }, retry: { initialMs: 10 } }, ({ attempt }) => {
        if (attempt === 1) throw new Error('not yet');
        return ran.push('flaky');
      });
      const last = step('last', { needs: { right, flaky } }, () => ran.push('last'));
      return { last };
    },
  });
  return { workflow, ran };
}

/** Lets the accidents happen to the writes with these numbers, counted over the whole run; returns how many writes there were. */
async function runWith(accidents: ReadonlyMap<number, Accident>) {
  const { workflow, ran } = fiveSteps();
  const world = new World({ workflows: [workflow] });
  const runId = await world.start('five-steps');
  let writes = 0;
  const store = intercept(world.store, async ({ method }, proceed) => {
    if (method !== 'commit' && method !== 'touch') return proceed();
    const accident = accidents.get(writes);
    writes += 1;
    if (accident === 'before') throw new OutcomeUnknown(method, 'never arrived');
    const answer = await proceed();
    if (accident === 'after') throw new OutcomeUnknown(method, 'answer lost');
    if (accident === 'repeated') return { kind: method === 'commit' ? 'exists' : 'stale' };
    return answer;
  });
  const deps: EngineDeps = { ...world.deps, store };
  await world.run(undefined, deps);
  const state = assertStored(world.db, runId);
  const types = await world.eventTypes(runId);
  return { state, ran, types, writes };
}

/** Order within a commit may differ after a resend; what is in the journal may not. */
const EVERYTHING = [
  'run_claimed',
  'run_completed',
  'run_created',
  'run_started',
  'step_retry_scheduled',
  'step_started',
  'step_succeeded',
  'step_succeeded',
  'step_succeeded',
  'step_succeeded',
  'step_succeeded',
];

async function assertUnharmed(accidents: ReadonlyMap<number, Accident>): Promise<void> {
  const { state, ran, types } = await runWith(accidents);
  const what = [...accidents].join(' and ');
  expect([what, state.status]).toEqual([what, 'completed']);
  expect([what, ...[...types].sort()]).toEqual([what, ...EVERYTHING]);
  expect([what, ...[...ran].sort()]).toEqual([what, 'first', 'flaky', 'last', 'left', 'right']);
}

describe('J8: a lost acknowledgement loses and repeats no event', () => {
  test.each(Object.entries(ACCIDENTS))('at any single write of a run: %s', async (_, accident) => {
    const { writes } = await runWith(new Map());
    expect(writes).toBeGreaterThan(4);
    for (let at = 0; at < writes; at += 1) await assertUnharmed(new Map([[at, accident]]));
  });

  test('at any pair of writes, in every combination', async () => {
    const { writes } = await runWith(new Map());
    // Each accident may add a write, so the second may happen to a resend of the first.
    for (let first = 0; first <= writes; first += 1) {
      for (let second = first + 1; second <= writes + 1; second += 1) {
        for (const one of Object.values(ACCIDENTS)) {
          for (const other of Object.values(ACCIDENTS)) {
            await assertUnharmed(
              new Map([
                [first, one],
                [second, other],
              ]),
            );
          }
        }
      }
    }
  });

  test('at every write of a run the first time', async () => {
    const everySecond = new Map<number, Accident>();
    for (let at = 0; at < 60; at += 2) everySecond.set(at, 'after');
    await assertUnharmed(everySecond);
  });
});
