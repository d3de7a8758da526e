/** A run reports how long it waits for the lease of a killed worker. Kills a worker and moves the clock past the lease. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { control, getJson } from '../../../packages/local/src/cloud-process.ts';
import { inspectJournal } from '../../../scripts/demo/journal.ts';
import { linesIn } from '../../../scripts/demo/notes.ts';
import { signalTo } from '../../support/processes.ts';
import { ended, eventually, type RunView, startRun, type TestCloud, tryGet } from '../support.ts';

interface Waiting extends RunView {
  readonly leaseWait?: { readonly until: string; readonly steps: readonly string[]; readonly why: string };
}

interface Meter {
  readonly tasks: { readonly dispatchesEnded: number };
}

/** Longer than a lease. */
const LEASE_OVER_MS = 95_000;

/** @param cloudOf returns the cloud, in memory and with a spare worker, once it has started */
export function leaseWaits(cloudOf: () => TestCloud): void {
  test('a run whose worker was killed in a step that must not run twice reports the step and the end of the lease, and continues then', async () => {
    const { ready, folder } = cloudOf();
    const notes = join(folder, 'blocking');
    const answer = await startRun(ready, 'blocking', { notes });
    const { runId } = (await answer.json()) as { runId: string };
    const pid = await eventually('the body to begin', () => {
      const [line] = linesIn(notes);
      return line === undefined ? undefined : Number(line.split(' ')[1]);
    });
    const before = await control<Meter>(ready, 'GET', '/meter/tasks');
    signalTo(pid, 'SIGKILL');
    // Two deliveries: one to the killed worker, and the next one, which must wait.
    await eventually('the task to be delivered again', async () => {
      const { tasks } = await control<Meter>(ready, 'GET', '/meter/tasks');
      return tasks.dispatchesEnded >= before.tasks.dispatchesEnded + 2 ? true : undefined;
    });
    const waiting = await eventually('the run', () => tryGet<Waiting>(ready, `/v1/runs/${runId}`));
    expect(waiting).toMatchObject({
      status: 'running',
      leaseWait: { steps: ['block'], why: "step 'block' must not run twice" },
    });
    const until = Date.parse(waiting.leaseWait?.until ?? '');
    await control(ready, 'POST', '/clock/advance', { ms: LEASE_OVER_MS });
    expect(await ended(ready, runId)).toMatchObject({ status: 'failed', error: { code: 'RUN_ORPHANED' } });
    const { events, intact } = await inspectJournal(ready, runId);
    // No dispatch took the run over earlier.
    expect(events.filter(({ type }) => type === 'run_claimed')).toHaveLength(1);
    const last = events.at(-1);
    expect(last?.type).toBe('run_failed');
    expect(last?.at).toBeGreaterThanOrEqual(until);
    expect(intact).toBe(true);
    expect(readFileSync(notes, 'utf8').match(/begin/g)).toHaveLength(1);
    expect(await getJson<Waiting>(ready, `/v1/runs/${runId}`)).not.toHaveProperty('leaseWait');
  });
}
