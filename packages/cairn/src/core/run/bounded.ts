/**
 * Limits of the data of one event, so that its document always fits (1 MiB) and the snapshot after it grows little.
 * Text of bodies, policies and users is cut here, the single point of all appends. Lists of executions are split by the
 * code that creates the event. Pure.
 */
import { CairnError } from '../errors.ts';
import { withoutUndefined } from '../optional.ts';
import type { EventDraft, RecordedError } from './events.ts';
import { cut, TRACE_CHARS } from './records.ts';

/** Bytes of the data of one event, as canonical JSON. With the rest of its document far below 1 MiB. */
export const MAX_EVENT_DATA_BYTES = 700 * 1024;
/** Bytes of a list of executions that one event names; more take several events. */
export const MAX_NAMED_BYTES = 256 * 1024;
/** Executions that an event names for people only. */
export const MAX_SHOWN = 100;
/** Limit of a code or a name that an author chooses. */
const MAX_NAME_CHARS = 200;

/**
 * The draft with long text cut, with well-formed text only, and without undefined members, so that its data is encoded once.
 * Text with a lone surrogate, as a cut inside an emoji leaves it, has no canonical JSON.
 */
export function boundedDraft(draft: EventDraft): EventDraft {
  const data = withoutUndefined(draft.data);
  const { error, reason, policySnapshotId } = data as {
    readonly error?: RecordedError;
    readonly reason?: unknown;
    readonly policySnapshotId?: unknown;
  };
  const changes = {
    ...(error && mustChange(error) ? { error: boundedError(error) } : {}),
    ...(exceeds(reason, TRACE_CHARS) ? { reason: truncated(reason, TRACE_CHARS) } : {}),
    ...(exceeds(policySnapshotId, MAX_NAME_CHARS)
      ? { policySnapshotId: truncated(policySnapshotId, MAX_NAME_CHARS) }
      : {}),
  };
  if (Object.keys(changes).length > 0) return { ...draft, data: { ...data, ...changes } } as EventDraft;
  return data === draft.data ? draft : ({ ...draft, data } as EventDraft);
}

/** @throws CairnError RUN_TOO_LARGE if the event could not be stored */
export function assertEventFits({ type }: EventDraft, bytes: number): void {
  if (bytes <= MAX_EVENT_DATA_BYTES) return;
  throw new CairnError(
    'RUN_TOO_LARGE',
    `the event '${type}' has ${bytes} bytes; the maximum is ${MAX_EVENT_DATA_BYTES}`,
  );
}

/** Groups items in their order, each group up to the limit; a larger item has a group of its own. */
export function grouped<T>(items: Iterable<T>, bytesOf: (item: T) => number, most = MAX_NAMED_BYTES): T[][] {
  const groups: T[][] = [];
  let open: T[] = [];
  let bytes = 0;
  for (const item of items) {
    const more = bytesOf(item);
    if (open.length > 0 && bytes + more > most) {
      groups.push(open);
      open = [];
      bytes = 0;
    }
    open.push(item);
    bytes += more;
  }
  return open.length > 0 ? [...groups, open] : groups;
}

function exceeds(text: unknown, most: number): text is string {
  return typeof text === 'string' && (text.length > most || !text.isWellFormed());
}

function truncated(text: string, most: number): string {
  return cut(text, most).toWellFormed();
}

function mustChange({ code, message, trace = '', stepId = '' }: RecordedError): boolean {
  return (
    exceeds(code, MAX_NAME_CHARS) ||
    exceeds(stepId, MAX_NAME_CHARS) ||
    exceeds(message, TRACE_CHARS) ||
    exceeds(trace, TRACE_CHARS)
  );
}

function boundedError(error: RecordedError): RecordedError {
  const { code, message, trace, stepId } = error;
  return {
    ...error,
    code: truncated(code, MAX_NAME_CHARS),
    message: truncated(message, TRACE_CHARS),
    ...(stepId === undefined ? {} : { stepId: truncated(stepId, MAX_NAME_CHARS) }),
    ...(trace === undefined ? {} : { trace: truncated(trace, TRACE_CHARS) }),
  };
}
