/** Records the outcome of an effect in doubt. */
import type { Answer } from 'cairn/api/calls';
import { z } from 'zod';
import { ToolProblem } from '../../answer.ts';
import { act, type Blocker } from '../act.ts';
import { NOTE, RUN_ID } from '../arguments.ts';

/** Ten requests. For more effects, use the console or the command line. */
const MAX_SEARCHED = 1_000;

/** Checks for the refusals of the API, so that no preview of an impossible act is shown. */
function resolvedBlockers({
  status,
  resolution,
}: Pick<Answer<'Effect'>, 'status' | 'resolution'>): Blocker[] {
  const isOpen = status === 'attempted' || status === 'blocked';
  if (isOpen && !resolution) return [];
  const detail = resolution
    ? `The effect was resolved as ${resolution.outcome} by ${resolution.by}.`
    : `The effect is ${status} and needs no resolution.`;
  return [{ code: 'EFFECT_RESOLVED', detail, help: 'list_questions has the effects that are in doubt.' }];
}

export const resolveEffect = act({
  name: 'resolve_effect',
  title: 'Resolve an effect in doubt',
  description:
    'Resolves an effect whose outcome is unknown. Find out at the receiver first. recorded: it took place, with this result; re-execute: it did not, or may happen again; failed: it did not and shall not. Role operator.',
  args: z.strictObject({
    runId: RUN_ID,
    effectId: z.string().min(1).max(100).describe('Whole id, as list_questions or get_run has it.'),
    outcome: z.enum(['recorded', 're-execute', 'failed']),
    result: z.unknown().optional().describe('With recorded: the response of the receiver.'),
    note: NOTE,
  }),
  isDestructive: true,
  async preview(client, { runId, effectId, outcome }) {
    const params = { id: runId };
    const { items } = await client.list('/v1/runs/{id}/effects', { params, limit: MAX_SEARCHED });
    const effect = items.find((one) => one.effectId === effectId);
    if (effect === undefined)
      throw new ToolProblem({
        code: 'NO_SUCH_EFFECT',
        detail: `None of the first ${items.length} effects of run ${runId} has this id.`,
        field: 'effectId',
        help: 'get_run and list_questions have the ids of effects.',
      });
    const { capabilityId, stepId, status, blockedBy, request, resolution, createdAt } = effect;
    const shown = { effectId, capabilityId, stepId, status, blockedBy, request, resolution, createdAt };
    return {
      text: `Would resolve ${capabilityId} of step ${stepId}, called ${createdAt} and now ${status}, as ${outcome}.`,
      data: { effect: shown, outcome },
      state: shown,
      blockers: resolvedBlockers(effect),
    };
  },
  async carryOut(client, { args: { runId, effectId, outcome, result, note }, idempotencyKey }) {
    const resolved = await client.change('POST', '/v1/runs/{id}/effects/{effectId}/resolve', {
      params: { id: runId, effectId },
      body: { outcome, note, result },
      idempotencyKey,
    });
    return { text: `Recorded ${resolved.outcome} for ${effectId}.`, data: { ...resolved } };
  },
});
