/** Ends a run. */
import { explainRun } from '@cairn/client';
import { z } from 'zod';
import { act } from '../act.ts';
import { RUN_ID } from '../arguments.ts';

const ENDED: readonly string[] = ['completed', 'failed', 'cancelled'];

export const cancelRun = act({
  name: 'cancel_run',
  title: 'Cancel a run',
  description:
    'Cancels a run: a running one ends at its next step, and completed steps are undone first. Role operator.',
  args: z.strictObject({
    runId: RUN_ID,
    reason: z.string().min(1).max(1_000).describe('Why; recorded in the journal.'),
  }),
  isDestructive: true,
  async preview(client, { runId }) {
    const run = await client.get('/v1/runs/{id}', { params: { id: runId } });
    const { type, status, running, waits, cancellation, steps } = run;
    const { text } = explainRun(run);
    return {
      text: `Would cancel ${type} ${runId}, which is ${status}. ${text} ${steps.succeeded} steps have succeeded; those with a compensation are undone.`,
      data: { runId, type, status, explanation: text, running, steps, waits },
      // Excludes the progress of the run, which would always have changed.
      state: { status, cancellation, waits: waits.map(({ id }) => id) },
      blockers: ENDED.includes(status)
        ? [
            {
              code: 'RUN_TERMINAL_STATE',
              detail: `The run is ${status}.`,
              field: 'runId',
              help: 'An ended run does not change.',
            },
          ]
        : [],
    };
  },
  async carryOut(client, { args: { runId, reason }, idempotencyKey }) {
    const cancelled = await client.change('POST', '/v1/runs/{id}/cancel', {
      params: { id: runId },
      body: { reason },
      idempotencyKey,
    });
    return { text: `${runId} is ${cancelled.status}.`, data: { ...cancelled } };
  },
});
