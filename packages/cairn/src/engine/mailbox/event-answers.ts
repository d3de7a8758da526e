/** Decides which open waits of a run an event answers, and with which output. Pure, but for the author's schema and code. */

import { CairnError, Fatal, invalidInput } from '../../core/errors.ts';
import type { EventDraft, Wait } from '../../core/run/events.ts';
import { hasReceived, isOver, type RunState } from '../../core/run/state.ts';
import type { Initiator } from '../../core/run/status.ts';
import { assertFits } from '../../core/run/values.ts';
import type { WorkflowRegistry } from '../define/registry.ts';
import type { StepDefinition } from '../define/steps.ts';
import { planMissing, workflowOf } from '../definition-of-run.ts';
import { checked, type Output, outputOf } from '../recording/output.ts';
import { answerDrafts, resumptionDrafts, type WaitResolution } from '../waits/end-of-wait.ts';

export interface DeliveredData {
  /** Id of the event or signal. */
  readonly id: string;
  /** Canonical JSON. */
  readonly dataText: string;
  readonly initiator: Initiator;
  readonly actor?: string | undefined;
}

/** Open waits that this event would answer; empty for a run that is ending. */
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
  } catch (error) {
    if (error instanceof CairnError || error instanceof Fatal) return { refusal: error.message };
    throw error;
  }
}
