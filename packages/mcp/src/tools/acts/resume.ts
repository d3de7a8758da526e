/** Resumes a run that failed, was cancelled or is blocked. */
import { z } from 'zod';
import { act } from '../act.ts';
import { RUN_ID } from '../arguments.ts';

const WOULD = {
  start_successor: 'start a new run',
  unpark: 'continue the run itself',
  nothing: 'do nothing',
} as const;

export const resumeRun = act({
  name: 'resume_run',
  title: 'Resume a run',
  description:
    'Resumes a run: a new run continues one that failed or was cancelled and reuses its completed steps; a blocked run continues itself. Role operator.',
  args: z.strictObject({
    runId: RUN_ID,
    fromStep: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe('Run this step and all that follow it; reuse the others.'),
    carrySignals: z.boolean().optional().describe('The new run takes over the unread signals.'),
  }),
  isDestructive: false,
  async preview(client, args) {
    const body = { mode: 'resume' as const, ...bodyOf(args) };
    const preview = await client.change('POST', '/v1/runs/{id}/preview', {
      params: { id: args.runId },
      body,
    });
    const { would, planVersion, steps, effects, effectsCut, blockers } = preview;
    const again = steps.filter(({ action }) => action === 'runs').map(({ id }) => id);
    const repeated = effects.filter(({ action }) => action !== 'reused').length;
    return {
      text: [
        `Would ${WOULD[would]} on v${planVersion}.`,
        again.length > 0 && `Steps that run: ${again.join(', ')}.`,
        repeated > 0 && `${repeated}${effectsCut ? ' or more' : ''} effects would not simply be reused.`,
      ]
        .filter(Boolean)
        .join(' '),
      data: { ...preview },
      state: preview,
      blockers,
    };
  },
  async carryOut(client, { args, idempotencyKey }) {
    const resumed = await client.change('POST', '/v1/runs/{id}/resume', {
      params: { id: args.runId },
      body: bodyOf(args),
      idempotencyKey,
    });
    const text =
      'outcome' in resumed
        ? `${resumed.runId} ${resumed.outcome === 'resumed' ? 'continues' : 'was already moving'}.`
        : `Started ${resumed.runId}, which continues ${args.runId}.`;
    return { text, data: { ...resumed } };
  },
});

function bodyOf({
  fromStep,
  carrySignals,
}: {
  fromStep?: string | undefined;
  carrySignals?: boolean | undefined;
}) {
  return {
    from: fromStep === undefined ? undefined : { step: fromStep },
    signals: carrySignals ? ('carry' as const) : undefined,
  };
}
