/** `TargetChange` messages: state of targets, and the moment up to which a listener has seen everything. */
import type { StatusError } from '../../model/status.ts';
import { toTimestamp } from '../../wire/time.ts';
import { encodeResumeToken, type SeenUpTo } from './resume-token.ts';

/** `TargetChange.TargetChangeType` */
const TYPE = { NO_CHANGE: 0, ADD: 1, REMOVE: 2, CURRENT: 3, RESET: 4 } as const;

export function targetAdded(id: number): object {
  return { targetChange: { targetChangeType: TYPE.ADD, targetIds: [id] } };
}

/** Nothing that was shown of the target counts any more: it is shown from its beginning. */
export function targetReset(id: number): object {
  return { targetChange: { targetChangeType: TYPE.RESET, targetIds: [id] } };
}

/** Everything that was in the target at that moment has been shown. */
export function targetCurrent(id: number, seen: SeenUpTo): object {
  return { targetChange: { targetChangeType: TYPE.CURRENT, targetIds: [id], ...moment(seen) } };
}

/** With a cause, the server ends it; without, the client asked for it. */
export function targetRemoved(id: number, cause?: StatusError): object {
  const why = cause ? { cause: { code: cause.code, message: cause.message } } : {};
  return { targetChange: { targetChangeType: TYPE.REMOVE, targetIds: [id], ...why } };
}

/** All targets of the stream together have been shown as of that moment. */
export function consistent(seen: SeenUpTo): object {
  return { targetChange: { targetChangeType: TYPE.NO_CHANGE, targetIds: [], ...moment(seen) } };
}

/** Message with the number of documents in the target, for a client with a different count. */
export function countOf(targetId: number, count: number): object {
  return { filter: { targetId, count } };
}

function moment(seen: SeenUpTo): object {
  return { readTime: toTimestamp(seen.time), resumeToken: encodeResumeToken(seen) };
}
