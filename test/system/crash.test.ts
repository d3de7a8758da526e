import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { inspectJournal } from '../../scripts/demo/journal.ts';
import { linesIn } from '../../scripts/demo/notes.ts';
import { signalTo } from '../support/processes.ts';
import { ended, eventually, startRun, startTestCloud } from './support.ts';

function notesIn(file: string): { what: string; pid: number }[] {
  return linesIn(file).map((line) => ({ what: line.split(' ')[0] ?? '', pid: Number(line.split(' ')[1]) }));
}

/** Enough for the start of a cloud on a busy machine. */
const PATIENCE_MS = 480_000;

/** See entry-points/killed-worker.test.ts for a worker that is killed. */
describe('a worker that dies', () => {
  test(
    'stopped past its lease and continued, it writes nothing more (J3)',
    async () => {
      // Leases of 5 s instead of 90 s, because the test waits for the end of one.
      const cloud = await startTestCloud('sqlite', {
        workers: 2,
        leaseMs: 5_000,
        watchdogSeconds: 3_600,
        isDisturbed: true,
      });
      try {
        const { ready, folder } = cloud;
        const notes = join(folder, 'notes');
        const until = join(folder, 'stopped');
        const started = await startRun(ready, 'slow', { ms: 0, until, notes });
        const { runId } = (await started.json()) as { runId: string };
        const { pid: zombie } = await eventually('the step to begin', () => notesIn(notes)[0]);
        signalTo(zombie, 'SIGSTOP');
        writeFileSync(until, '');
        // The queue notices only by its deadline that the stopped worker does not answer; the scan finds the stale lease earlier.
        await eventually('another to end the step', () =>
          notesIn(notes).find(({ what, pid }) => what === 'end' && pid !== zombie),
        );
        const before = await eventually('the run to complete', async () => {
          // Read from the store, to send no requests to the remaining worker.
          const { events } = await inspectJournal(ready, runId);
          return events.at(-1)?.type === 'run_completed' ? events : undefined;
        });
        signalTo(zombie, 'SIGCONT');
        await eventually('the zombie to end its step', () =>
          notesIn(notes).some(({ what, pid }) => what === 'end' && pid === zombie) ? true : undefined,
        );
        const { events, intact } = await inspectJournal(ready, runId);
        expect(events).toEqual(before);
        expect(intact).toBe(true);
        const run = await ended(ready, runId);
        expect(run.status).toBe('completed');
        // May be more than one if a slow machine keeps the second worker from extending the short lease.
        expect(run.resumeCount).toBeGreaterThanOrEqual(1);
      } finally {
        await cloud.stop();
      }
    },
    PATIENCE_MS,
  );
});
