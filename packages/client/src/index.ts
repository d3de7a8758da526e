/** `@cairn/client`: the typed client of the API. */
export {
  CairnClient,
  type ClientOptions,
  type Exchange,
  type Listed,
  type Request,
  readAnswer,
} from './client.ts';
export { declaredType } from './declared-type.ts';
export { ago, duration, soFar } from './duration.ts';
export { eventLine, isOfWholeRun } from './event-line/event-line.ts';
export type { EventLine, EventTone } from './event-line/line.ts';
export { exampleOf } from './example/example-of.ts';
export { budgetLines } from './explain/budget-lines.ts';
export { type CodePlace, placesOf, readPlaces } from './explain/code-places.ts';
export { dayResumption } from './explain/day-end.ts';
export {
  type Activity,
  activityOf,
  type Deferral,
  type ExplainedRun,
  type Explanation,
  explainRun,
  failuresText,
  type Held,
  isBackingOff,
} from './explain/explain-run.ts';
export { helpFor } from './explain/help-for.ts';
export {
  BUDGET_DECISIONS,
  DOUBT_DECISIONS,
  type ExplainedMove as Move,
  moveOf,
  needsDecision,
  UNDECIDABLE,
} from './explain/moves.ts';
export { readActivity, readUndecidable } from './explain/read-activity.ts';
export { explainStop, mayBeStopped } from './explain/stop.ts';
export type { Followed, RunEventView as RunEvent } from './follow.ts';
export type { FollowedLog, FollowingLogs } from './follow-logs.ts';
export { followStream, type Stream, type Streamed } from './follow-stream.ts';
export { type Finding, isOverdue, NOT_SEEN } from './health/findings.ts';
export {
  type AnswerOrError as Asked,
  type HealthAnswers,
  isLocal,
  isSilent,
  isWrong,
  judgeHealth,
  type Reading,
} from './health/judge.ts';
export { newestEvents } from './newest-events.ts';
export {
  isPageInPlace,
  isPassing,
  isUncertain,
  type Problem,
  problemOf,
  Refusal,
  reasonOf,
  retryAfterMs,
  Unreachable,
} from './problem.ts';
export { ProxyBuffering } from './proxy-buffering.ts';
export { AT_ONCE, type Refused, type SendAllOptions, type SendState as Sent, sendAll } from './send-all.ts';
export { BULK_CHUNK, type BulkResult, type SendBulkOptions, sendBulk } from './send-bulk.ts';
export { LEAST_OFFSET_MS, offsetMs } from './server-clock.ts';
export { type EventFrame, framesOf } from './server-sent-events.ts';
export { attemptKey, stepKey } from './step-key.ts';
export {
  isTextKind,
  type StreamedLine,
  type StreamedText,
  type StreamedTexts,
  withLine,
} from './streamed-text.ts';
export { type QueryValue, targetOf } from './target.ts';
export { type Fetch, type Reply, randomKey } from './transport.ts';
export { firstWait, peopleFirst, questionText, waitLine, waitText } from './wait-text.ts';
