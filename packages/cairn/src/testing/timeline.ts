/** Formats a journal as lines of text, for the message of a failed expectation. */
import type { EventData, RunEvent } from '../core/run/events.ts';
import { stepKey } from '../core/run/state.ts';

/** One line for each event: number, time since the start of the run, type and subject. */
export function timelineOf(events: readonly RunEvent[]): string {
  const [first] = events;
  if (!first) return '(the journal is empty)';
  const lines = events.map((event) => {
    const subject = subjectOf(event);
    const line = `${String(event.seq).padStart(4)}  ${elapsed(event.at - first.at).padStart(16)}  ${event.type}`;
    return subject === '' ? line : `${line.padEnd(46)}  ${subject}`;
  });
  return lines.join('\n');
}

/** `+1d 02:03:04.005`; days only if there are any. */
function elapsed(ms: number): string {
  const days = Math.floor(ms / 86_400_000);
  const time = new Date(ms - days * 86_400_000).toISOString().slice(11, 23);
  return days === 0 ? `+${time}` : `+${days}d ${time}`;
}

/** Common members of events, in the order of a sentence. */
function subjectOf({ data, actor }: RunEvent): string {
  const seen = data as Partial<
    EventData['step_retry_scheduled'] &
      EventData['run_cancelled'] &
      EventData['wait_opened'] &
      EventData['wait_resolved'] &
      EventData['signal_received'] &
      EventData['feedback_given'] &
      EventData['run_suspended']
  >;
  const { stepId, itemKey, revision, attempt, wait, waitId, error, again } = seen;
  const parts = [
    stepId === undefined ? undefined : stepKey(itemKey === undefined ? { stepId } : { stepId, itemKey }),
    wait ? waitText(wait) : waitId,
    seen.name === undefined
      ? undefined
      : `'${seen.name}'${seen.key === undefined ? '' : ` for '${seen.key}'`}`,
    seen.decision,
    seen.status,
    again ? `again: ${again.join(', ')}` : undefined,
    revision !== undefined && revision > 1 ? `revision ${revision}` : undefined,
    attempt !== undefined && attempt > 1 ? `attempt ${attempt}` : undefined,
    seen.stopKind,
    actor === undefined ? undefined : `by ${actor}`,
    error ? `${error.code}: ${firstLine(error.message)}` : undefined,
    seen.reason === undefined ? undefined : `(${firstLine(seen.reason)})`,
  ];
  return parts.filter((part) => part !== undefined).join(' ');
}

function waitText({ id, kind, dueAt }: EventData['wait_opened']['wait']): string {
  return `${id} ${kind}${dueAt === undefined ? '' : ` until ${new Date(dueAt).toISOString()}`}`;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
