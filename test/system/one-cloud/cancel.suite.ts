/** Cancels a run in a step, and one that has ended, over HTTP. Moves the clock by a day. */
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { control } from '../../../packages/local/src/cloud-process.ts';
import { inspectJournal } from '../../../scripts/demo/journal.ts';
import { linesIn } from '../../../scripts/demo/notes.ts';
import { type CloudStage, ended, eventually, send, startRun } from '../support.ts';

/** Longer than the test, so that the step ends early only if it is cancelled. */
const LONG_MS = 600_000;

export function cancels(stage: CloudStage): void {
  describe('a cancel', () => {
    /** Starts a run and waits for its step. Returns the lines that the step writes. */
    async function underWay(name: string): Promise<{ runId: string; notes: () => string[] }> {
      const file = join(stage.cloud.folder, name);
      const notes = () => linesIn(file);
      const input = { ms: LONG_MS, notes: file };
      const { runId } = (await (await startRun(stage.cloud.ready, 'patient', input)).json()) as {
        runId: string;
      };
      await eventually('the step to begin', () => notes()[0]);
      return { runId, notes };
    }

    const cancel = (runId: string, key?: string | null) =>
      send(stage.cloud.ready, { path: `/v1/runs/${runId}/cancel`, body: { reason: 'took too long' }, key });

    async function counts(): Promise<{ readonly created: number; readonly finished: number }> {
      const { tasks } = await control<{ tasks: { created: number; finished: number } }>(
        stage.cloud.ready,
        'GET',
        '/meter/tasks',
      );
      return tasks;
    }

    test('aborts the running step, and the run ends with reason and actor', async () => {
      const { runId, notes } = await underWay('reached');
      const answer = await cancel(runId);
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ runId, status: 'cancelling', reason: 'took too long' });
      const note = await eventually('the step to be told', () => notes()[1]);
      expect(note).toMatch(/^cancel \d+$/);

      const run = await ended(stage.cloud.ready, runId);
      expect(run).toMatchObject({
        status: 'cancelled',
        stopKind: 'user',
        cancellation: { stopKind: 'user', reason: 'took too long', actor: expect.stringMatching(/^c\../) },
      });
      const { events, intact } = await inspectJournal(stage.cloud.ready, runId);
      expect(intact).toBe(true);
      expect(events.map(({ type }) => type)).toEqual([
        'run_created',
        'run_claimed',
        'run_started',
        'cancel_requested',
        'run_cancelled',
      ]);

      // Nothing changes the run later, because no task is left and the scan of the next day finds nothing to do.
      const settled = await eventually('the queue to be empty', async () => {
        const { created, finished } = await counts();
        return created === finished ? created : undefined;
      });
      await control(stage.cloud.ready, 'POST', '/clock/advance', { ms: 24 * 3_600_000 });
      const { runId: later } = (await (await startRun(stage.cloud.ready, 'chain-10', {})).json()) as {
        runId: string;
      };
      await ended(stage.cloud.ready, later);
      expect((await counts()).created).toBe(settled + 1);
      expect((await inspectJournal(stage.cloud.ready, runId)).events).toHaveLength(events.length);
      expect(notes()).toHaveLength(2);
    });

    test('of a run that has ended is refused, and its repetition under one key gets the same bytes', async () => {
      const { runId } = (await (await startRun(stage.cloud.ready, 'chain-10', {})).json()) as {
        runId: string;
      };
      await ended(stage.cloud.ready, runId);
      const first = await cancel(runId, 'too-late');
      const again = await cancel(runId, 'too-late');
      expect([first.status, again.status]).toEqual([409, 409]);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      const bytes = await first.text();
      expect(await again.text()).toBe(bytes);
      expect(JSON.parse(bytes)).toMatchObject({ code: 'RUN_TERMINAL_STATE', details: { from: 'completed' } });
      const keyless = await cancel(runId, null);
      expect([keyless.status, keyless.headers.has('idempotency-replayed')]).toEqual([409, false]);
    });
  });
}
