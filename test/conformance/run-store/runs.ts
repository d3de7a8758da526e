/** Runs for the suites of the run store. */
import { expect } from '@jest/globals';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import type { LoadedRun, RunStore } from '../../../packages/cairn/src/ports/run-store.ts';
import { beginning, claim, move, T0 } from '../support/run-fixture.ts';

export const LEASE_MS = 300_000;

export async function loaded(runs: RunStore, runId: string): Promise<LoadedRun> {
  const run = await runs.load(runId);
  if (!run) throw new Error(`run ${runId} is not there`);
  return run;
}

/** A run that an attempt holds, with the snapshot of the claim. */
export async function claimed(runs: RunStore, runId: string): Promise<RunState> {
  const start = beginning(runId);
  await runs.start(start);
  const { after, commit } = move(start.state, claim(start.state, T0 + LEASE_MS), { snapshot: true });
  expect(await runs.commit(commit)).toMatchObject({ kind: 'committed' });
  return after;
}
