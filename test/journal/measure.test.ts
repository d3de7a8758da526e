import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Fatal } from '../../packages/cairn/src/core/errors.ts';
import type { RunEvent } from '../../packages/cairn/src/core/run/events.ts';
import { initialState, reduce } from '../../packages/cairn/src/core/run/reduce/index.ts';
import { isTerminal } from '../../packages/cairn/src/core/run/status.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { decideApproval } from '../../packages/cairn/src/operations/approvals/decide-approval.ts';
import { cancelRun } from '../../packages/cairn/src/operations/cancel-run.ts';
import {
  type Conflict,
  type Metrics,
  type RunEndMetric,
  type Transition,
  UNMEASURED,
} from '../../packages/cairn/src/ports/metrics.ts';
import { OutcomeUnknown } from '../../packages/cairn/src/ports/store-errors.ts';
import { intercept, never } from '../support/intercept.ts';
import { World } from '../support/world.ts';

/** Records all calls, in order. */
class Noted implements Metrics {
  effect = UNMEASURED.effect;
  dispatch = UNMEASURED.dispatch;
  readonly conflicts: Conflict[] = [];
  conflict(conflict: Conflict): void {
    this.conflicts.push(conflict);
  }
  readonly transitions: Transition[] = [];
  readonly endings: RunEndMetric[] = [];
  transition(transition: Transition): void {
    this.transitions.push(transition);
  }
  ended(ending: RunEndMetric): void {
    this.endings.push(ending);
  }
  answered(): void {}
}

const child = defineWorkflow({
  type: 'child',
  planVersion: 1,
  input: z.object({ n: z.number() }),
  steps: (step) => ({
    slow: step.sleep('rest', { for: '1h' }),
    out: step('double', ({ input }) => 2 * input.n),
  }),
});

/** Workflows with each kind of wait, one that completes by itself, and one that fails. */
const workflows = [
  child,
  defineWorkflow({
    type: 'plain',
    planVersion: 1,
    input: z.unknown(),
    steps: (step) => ({ one: step('one', () => 1) }),
  }),
  defineWorkflow({
    type: 'failing',
    planVersion: 1,
    input: z.unknown(),
    steps: (step) => ({
      one: step('one', () => {
        throw new Fatal('no');
      }),
    }),
  }),
  defineWorkflow({
    type: 'asking',
    planVersion: 1,
    input: z.unknown(),
    steps: (step) => ({ gate: step.approval('gate', { timeout: '24h', ask: () => ({ question: '?' }) }) }),
  }),
  defineWorkflow({
    type: 'parent',
    planVersion: 1,
    input: z.unknown(),
    steps: (step) => ({ one: step.child('one', { workflow: child, input: () => ({ n: 1 }) }) }),
  }),
  defineWorkflow({
    type: 'stuck',
    planVersion: 1,
    input: z.unknown(),
    steps: (step) => ({ one: step('one', ({ attempt, signal: _ }) => (attempt > 1 ? 1 : never())) }),
  }),
];

/** Status changes and ends in the journals. */
function inJournals(world: World): { transitions: Transition[]; endings: RunEndMetric[] } {
  const transitions: Transition[] = [];
  const endings: RunEndMetric[] = [];
  for (const [runId, { events }] of world.db.runs) {
    const [first, ...rest] = [...events.values()] as RunEvent[];
    let state = initialState(runId, first as RunEvent<'run_created'>);
    for (const event of rest) {
      const { status: from, tenantId, type } = state;
      state = reduce(state, event);
      const { status } = state;
      if (status === from) continue;
      transitions.push({ tenantId, from, to: status });
      if (isTerminal(status)) endings.push({ tenantId, type, status, durationMs: state.durationMs ?? -1 });
    }
  }
  return { transitions, endings };
}

function sorted(rows: readonly object[]): string[] {
  return rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort();
}

function assertSame(world: World, noted: Noted): void {
  const { transitions, endings } = inJournals(world);
  expect(sorted(noted.transitions)).toEqual(sorted(transitions));
  expect(sorted(noted.endings)).toEqual(sorted(endings));
}

/** Runs one of each case. `lose` selects the commits of drives whose answer is lost. */
async function everything(lose: (commit: number) => boolean): Promise<{ world: World; noted: Noted }> {
  const noted = new Noted();
  const world = new World({ workflows, metrics: noted });
  let commits = 0;
  const store = intercept(world.store, async ({ method }, proceed) => {
    const answer = await proceed();
    if (method !== 'commit') return answer;
    commits += 1;
    if (lose(commits)) throw new OutcomeUnknown(method, 'answer lost');
    return answer;
  });
  const deps = { ...world.deps, store };
  for (const type of ['plain', 'failing', 'parent']) await world.start(type);
  const askingRun = await world.start('asking');
  const halted = await world.start('asking', {}, { tenantId: 't2' });
  const cancelled = await world.start('plain', {}, { tenantId: 't2' });
  await cancelRun(world.deps, { runId: cancelled, tenantId: 't2', stopKind: 'user' });
  const waits = () =>
    [askingRun, halted].every((id) => world.db.runs.get(id)?.snapshot.status === 'awaiting_approval');
  await world.run(waits, deps);
  const decide = { stepId: 'gate', actor: 'c.ada' };
  // One commit resumes the run and ends or releases it.
  await decideApproval(world.deps, { ...decide, runId: askingRun, tenantId: 't1', decision: 'approve' });
  await decideApproval(world.deps, { ...decide, runId: halted, tenantId: 't2', decision: 'halt' });
  await world.run(undefined, deps);
  return { world, noted };
}

describe('every change of status is counted once, whoever appended it', () => {
  test('of runs that end by themselves, fail, wait, are cancelled or halted, and of children', async () => {
    const { world, noted } = await everything(() => false);
    assertSame(world, noted);
    expect(new Set(noted.endings.map(({ status }) => status))).toEqual(
      new Set(['completed', 'failed', 'cancelled']),
    );
    expect(noted.transitions.length).toBeGreaterThan(15);
    expect(new Set(noted.transitions.map(({ tenantId }) => tenantId))).toEqual(new Set(['t1', 't2']));
  });

  test.each([1, 2, 3])('when acknowledgements are lost (one in %d)', async (nth) => {
    let lost = 0;
    const { world, noted } = await everything((commit) => {
      // At most one loss in a row, so that every commit is known in the end.
      const lose = commit % (nth + 1) === 0;
      if (lose) lost += 1;
      return lose;
    });
    assertSame(world, noted);
    expect(lost).toBeGreaterThan(2);
  });

  test('of a run whose drive died and that the scan recovers', async () => {
    const noted = new Noted();
    const world = new World({ workflows, metrics: noted });
    await world.start('stuck');
    let dead = false;
    const mortal = intercept(world.store, (_, proceed) => (dead ? never() : proceed()));
    void world.run(() => noted.transitions.length > 0, { ...world.deps, store: mortal });
    while (noted.transitions.length === 0) await new Promise((done) => setImmediate(done));
    dead = true;
    world.clock.jump(10 * 60_000);
    await world.run(() => noted.endings.length > 0);
    assertSame(world, noted);
    expect(noted.transitions.map(({ from, to }) => `${from} ${to}`)).toEqual([
      'pending running',
      'running interrupted',
      'interrupted running',
      'running completed',
    ]);
  });

  test("a reader does not count the cost of another's append", async () => {
    const noted = new Noted();
    const other = new Noted();
    const world = new World({ workflows, metrics: noted });
    const runId = await world.start('asking');
    await world.run(() => world.db.runs.get(runId)?.snapshot.status === 'awaiting_approval');
    const seen = noted.transitions.length;
    await cancelRun({ ...world.deps, metrics: other }, { runId, tenantId: 't1', stopKind: 'user' });
    await world.run();
    expect(noted.transitions).toHaveLength(seen);
    expect(other.transitions).toEqual([{ tenantId: 't1', from: 'awaiting_approval', to: 'cancelled' }]);
  });
});
