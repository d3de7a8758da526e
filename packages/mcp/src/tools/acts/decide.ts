/** Answers a question of a run: an approval, or a step that was interrupted and must not run twice. */
import { DOUBT_DECISIONS, questionText, stepKey } from '@cairn/client';
import { z } from 'zod';
import { ToolProblem } from '../../answer.ts';
import { act } from '../act.ts';
import { NOTE, RUN_ID, STEP } from '../arguments.ts';

export const decide = act({
  name: 'decide',
  title: 'Answer a question of a run',
  description: `Answers an approval, or says what becomes of a step in doubt (approve: ${DOUBT_DECISIONS}). Role operator, or what the step asks for.`,
  args: z.strictObject({
    runId: RUN_ID,
    step: STEP,
    decision: z.enum(['approve', 'approve_with_waiver', 'retry_with_feedback', 'reject', 'halt']),
    note: NOTE,
    feedback: z
      .string()
      .max(4_000)
      .optional()
      .describe('With retry_with_feedback: for the steps that run again.'),
    steps: z
      .array(z.string().max(500))
      .max(200)
      .optional()
      .describe('With retry_with_feedback: steps to run again. Default: the dependencies of the approval.'),
    data: z
      .unknown()
      .optional()
      .describe('With approve of a question that has a dataSchema: data that fits it.'),
  }),
  isDestructive: true,
  async preview(client, { runId, step, decision }) {
    const run = await client.get('/v1/runs/{id}', { params: { id: runId } });
    const wait = run.waits.find(({ kind, execution }) => kind === 'approval' && stepKey(execution) === step);
    if (wait === undefined)
      throw new ToolProblem({
        code: 'NO_SUCH_QUESTION',
        detail: `No open question of run ${runId} is of step ${step}.`,
        field: 'step',
        help: 'list_questions has the open questions, get_run the waits of this run.',
      });
    const { id, purpose, detail, dataSchema, openedAt, dueAt, effectId } = wait;
    const asked = { purpose, detail, dataSchema, openedAt, dueAt, effectId };
    const question = { runId, type: run.type, step, waitId: id, ...asked };
    return {
      text: `Would answer ${decision} to ${step} of ${run.type} ${runId}: ${questionText(detail)}`,
      data: { question, decision },
      state: question,
      blockers:
        effectId === undefined
          ? []
          : [
              {
                code: 'EFFECT_IN_DOUBT',
                detail: 'The question is what became of an effect.',
                field: 'step',
                help: `Use preview_resolve_effect with effectId ${effectId}.`,
              },
            ],
    };
  },
  async carryOut(client, { args: { runId, step, ...body }, state: { waitId }, idempotencyKey }) {
    const decided = await client.change('POST', '/v1/runs/{id}/approvals/{stepId}', {
      params: { id: runId, stepId: step },
      body: { ...body, waitId },
      idempotencyKey,
    });
    return { text: `Recorded ${decided.decision} for ${decided.waitId} of ${runId}.`, data: { ...decided } };
  },
});
