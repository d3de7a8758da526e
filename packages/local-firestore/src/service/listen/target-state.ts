/** `TargetChange` messages: state of targets, and the moment up to which a listener is current. */
import { fromMicros } from '@cairn/local-kit/wire/timestamp';
import type { StatusError } from '../../model/status.ts';
import { encodeResumeToken, type SeenUpTo } from './resume-token.ts';

/** `TargetChange.TargetChangeType` */
const TYPE = { NO_CHANGE: 0, ADD: 1, REMOVE: 2, CURRENT: 3, RESET: 4 } as const;

export function targetAdded(id: number): object {
  return { targetChange: { targetChangeType: TYPE.ADD, targetIds: [id] } };
}

/** Resets the target: its documents are sent again. */
export function targetReset(id: number): object {
  return { targetChange: { targetChangeType: TYPE.RESET, targetIds: [id] } };
}

/** All documents of the target at that moment were sent. */
export function targetCurrent(id: number, seen: SeenUpTo): object {
  return { targetChange: { targetChangeType: TYPE.CURRENT, targetIds: [id], ...moment(seen) } };
}

/** Ends a target. A cause means that the server ends it; otherwise the client requested it. */
export function targetRemoved(id: number, cause?: StatusError): object {
  const why = cause ? { cause: { code: cause.code, message: cause.message } } : {};
  return { targetChange: { targetChangeType: TYPE.REMOVE, targetIds: [id], ...why } };
}

/** All targets of the stream are current as of that moment. */
export function consistent(seen: SeenUpTo): object {
  return { targetChange: { targetChangeType: TYPE.NO_CHANGE, targetIds: [], ...moment(seen) } };
}

/** Message with the number of documents in the target, for a client with a different count. */
export function countOf(targetId: number, count: number): object {
  return { filter: { targetId, count } };
}

function moment(seen: SeenUpTo): object {
  return { readTime: fromMicros(seen.time), resumeToken: encodeResumeToken(seen) };
}
