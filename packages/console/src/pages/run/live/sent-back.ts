/** Feedback with which a person sent a step back, from the journal. Pure. */
import { known, type RunEvent, stepIdOf } from './events.ts';

export interface StepFeedback {
  readonly seq: number;
  /** ISO. */
  readonly at: string;
  readonly feedback: string;
  /** Absent if the journal names nobody. */
  readonly by?: string | undefined;
  /** The run from which the feedback was taken over. Its journal names the person. */
  readonly from?: string | undefined;
}

/** The newest first. Items and operations are sent back with their step. */
export function stepFeedback(events: readonly RunEvent[], stepKey: string): readonly StepFeedback[] {
  const id = stepIdOf(stepKey);
  return events.flatMap((anyEvent) => entriesOf(anyEvent, id)).reverse();
}

function entriesOf(anyEvent: RunEvent, id: string): StepFeedback[] {
  const { seq, at, actor } = anyEvent;
  const event = known(anyEvent);
  if (event.type === 'feedback_given') {
    const { again, feedback } = event.data;
    return again.includes(id) ? [{ seq, at, feedback, by: actor }] : [];
  }
  if (event.type !== 'replay_started') return [];
  const { feedback = [], from } = event.data;
  return feedback
    .filter(({ steps }) => steps.includes(id))
    .map(({ text }) => ({ seq, at, feedback: text, from }));
}
