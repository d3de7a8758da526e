/**
 * Offers an event to a run: appends that its waits for it are answered, if they still are open on the newest state.
 * Idempotent: the journal has the ids of the received events.
 */

import { CairnError, Fatal, invalidInput } from '../../core/errors.ts';
import type { MailboxAddress } from '../../core/mailbox/mailbox.ts';
import type { EventDraft, Wait } from '../../core/run/events.ts';
import { hasReceived, isOver, type RunState } from '../../core/run/state.ts';
import type { Initiator } from '../../core/run/status.ts';
import { assertFits } from '../../core/run/values.ts';
import { messageOf, readableThrown } from '../../core/thrown.ts';
import { appendUnleased } from '../../journal/append-unleased.ts';
import type { JournalDeps } from '../../journal/run-journal.ts';
import type { WorkflowRegistry } from '../define/registry.ts';
import type { StepDefinition } from '../define/steps.ts';
import { planMissing, workflowOf } from '../definition-of-run.ts';
import { type DriveAfterDeps, driveAfter } from '../drive-after.ts';
import { checked, type Output, outputOf } from '../recording/output.ts';
import { answerDrafts, resumptionDrafts, type WaitResolution } from '../waits/end-of-wait.ts';

export interface OfferDeps extends JournalDeps, DriveAfterDeps {
  readonly registry: WorkflowRegistry;
}

export interface DeliveredData {
  /** Id of the event or signal. */
  readonly id: string;
  /** Canonical JSON. */
  readonly dataText: string;
  readonly initiator: Initiator;
  readonly actor?: string | undefined;
}
export interface OfferResult {
  /** The event is in the journal of the run, now or since earlier. */
  readonly isDelivered: boolean;
  /** The reason why an open wait refuses it. */
  readonly refused?: CairnError | undefined;
  /** Waits of the run for an event of this name and key that still are open. */
  readonly open: readonly string[];
}

/** @throws OutcomeUnknown if it is unknown whether the run has received it; NewerSchemaError */
export async function offerTo(
  deps: OfferDeps,
  runId: string,
  { tenantId, event, key, data }: MailboxAddress & { readonly data: DeliveredData },
): Promise<OfferResult> {
  const loaded = await deps.store.load(runId);
  if (loaded?.state.tenantId !== tenantId) return { isDelivered: false, open: [] };
  let refused: CairnError | undefined;
  const { registry } = deps;
  const appended = await appendUnleased(deps, loaded, (state, now) => {
    const answers = answersOn(state, { registry, data, waits: waitsAnsweredBy(state, event, key), now });
    refused = answers.refused;
    return answers.drafts;
  });
  await driveAfter(deps, appended);
  const { state } = appended;
  return {
    isDelivered: hasReceived(state, data.id),
    refused,
    open: waitsAnsweredBy(state, event, key).map(({ id }) => id),
  };
}

/** Open waits that this event would answer; none of a run that is ending. */
export function waitsAnsweredBy(state: RunState, event: string, key: string | undefined): readonly Wait[] {
  if (isOver(state) || state.cancellation || state.compensating) return [];
  return state.waits.filter(
    (wait) => wait.kind === 'event' && wait.name === event && (key === undefined || wait.key === key),
  );
}

export interface Answering {
  readonly registry: WorkflowRegistry;
  readonly data: DeliveredData;
  readonly waits: readonly Wait[];
  /** Epoch ms. */
  readonly now: number;
}

/** Events that the answers add; none if the journal has them. `refused`: why one of the waits gave no answer. */
export function answersOn(
  state: RunState,
  { registry, data, waits, now }: Answering,
): { readonly drafts: readonly EventDraft[]; readonly refused?: CairnError | undefined } {
  if (waits.length === 0 || hasReceived(state, data.id)) return { drafts: [] };
  const workflow = workflowOf(registry, state);
  if (!workflow) return { drafts: [], refused: planMissing(registry, state) };
  const { id: signalId, initiator, actor, dataText } = data;
  const answer: WaitResolution = { initiator, actor, signalId };
  const drafts: EventDraft[] = [];
  let refused: CairnError | undefined;
  for (const wait of waits) {
    const { stepId } = wait.execution;
    const step = workflow.steps.get(stepId);
    if (!step) throw new Error(`workflow '${state.type}' has no step '${stepId}'`);
    const output = eventOutput(step, dataText);
    if ('text' in output) drafts.push(...answerDrafts({ step, wait, now }, answer, output));
    else refused ??= invalidInput('data', output.refusal, { stepId });
  }
  if (drafts.length > 0) drafts.push(...resumptionDrafts(state, 'an event it waited for has come', answer));
  return { drafts, refused };
}

/** Output of an event step for the data, or the reason for its refusal. */
export function eventOutput(step: StepDefinition, dataText: string): Output | { readonly refusal: string } {
  const what = `the event for step '${step.id}'`;
  try {
    const output = outputOf(checked('output' in step ? step : { id: step.id }, JSON.parse(dataText)), what);
    assertFits(output.text, what);
    return output;
  } catch (thrown) {
    const error = readableThrown(thrown);
    // Anything else was thrown by a function within the author's schema: as much a refusal.
    const known = error instanceof CairnError || error instanceof Fatal;
    return { refusal: known ? error.message : `${what} could not be checked: ${messageOf(error)}` };
  }
}
