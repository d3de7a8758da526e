/** Decides an approval when a person presses a button. */
import { z } from 'zod';
import { type CairnError, invalidInput } from '../../core/errors.ts';
import { firstIssue } from '../../core/first-issue.ts';
import { parseObject } from '../../http/body.ts';
import { decideApproval } from '../../operations/approvals/decide-approval.ts';
import type { ApprovalDecided } from '../../operations/approvals/request.ts';
import { notConnected } from './command.ts';
import { type DecisionValue, isDecideAction, readValue } from './decision-value.ts';
import type { SlackScope } from './deps.ts';
import { instead, privately, quoted, type SlackMessage } from './message.ts';
import { actorOf, readableActor, SLACK_ID } from './teams.ts';

const id = z.string().regex(SLACK_ID);
/** The used part of Slack's payload. */
const Payload = z.looseObject({
  type: z.literal('block_actions'),
  user: z.looseObject({ id, team_id: id.nullish() }),
  /** Null if an organisation has installed the app instead of one of its teams. */
  team: z.looseObject({ id }).nullish(),
  /** A press is one action. The value is null for elements of other apps, such as an empty input. */
  actions: z.tuple([z.looseObject({ action_id: z.string(), value: z.string().nullish() })]),
});

interface ButtonPress {
  /** Team in which the app is installed. */
  readonly teamId: string;
  /** Home team of the person. Differs from `teamId` in a channel that two teams share. */
  readonly homeTeamId: string;
  readonly userId: string;
  readonly decision: DecisionValue;
}

/**
 * A press of one of Cairn's buttons; undefined for all other interactions.
 *
 * @throws CairnError INVALID_INPUT for requests that Slack does not send
 */
export function readPress(text: string): ButtonPress | undefined {
  const payload = parseObject(text);
  if (typeof payload.type !== 'string') throw malformed('type');
  if (payload.type !== 'block_actions') return undefined;
  const parsed = Payload.safeParse(payload);
  if (!parsed.success) throw malformed(firstIssue(parsed.error.issues).field);
  const { user, team, actions } = parsed.data;
  const [{ action_id: actionId, value }] = actions;
  if (!isDecideAction(actionId)) return undefined;
  const teamId = team?.id ?? user.team_id ?? undefined;
  if (teamId === undefined) throw malformed('team');
  return {
    teamId,
    homeTeamId: user.team_id ?? teamId,
    userId: user.id,
    decision: readValue(value ?? undefined),
  };
}

/** @throws errors of `decideApproval` */
export async function decidePress(deps: SlackScope, press: ButtonPress): Promise<SlackMessage> {
  const { teamId, homeTeamId, userId, decision } = press;
  const tenantId = deps.tenants.get(teamId);
  if (tenantId === undefined) return notConnected(deps, teamId);
  if (deps.tenants.get(homeTeamId) !== tenantId) {
    deps.log.warn('slack_guest_refused', { teamId, homeTeamId, userId, runId: decision.runId });
    return privately('Only members of the workspace that received the question can decide this.');
  }
  const actor = actorOf(homeTeamId, userId);
  const decided = await decideApproval(deps, { ...decision, tenantId, actor });
  return instead(sentence(decided, homeTeamId));
}

const DONE: Readonly<Record<DecisionValue['decision'], string>> = {
  approve: 'Approved',
  reject: 'Rejected',
  halt: 'Halted',
};

function sentence({ decidedBy, decision, stepId, runId }: ApprovalDecided, teamId: string): string {
  const done = DONE[decision as DecisionValue['decision']];
  return `${done} by ${readableActor(decidedBy, teamId)}: \`${quoted(stepId)}\` of run \`${runId}\`.`;
}

function malformed(field: string): CairnError {
  return invalidInput(`payload.${field}`, `the payload is not a Slack interaction: ${field}`);
}
