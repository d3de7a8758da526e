/** The attempts and waits of a step as stretches of time, and their ends in words. `step-history.ts` builds them from events. */

/**
 * Ends of a stretch of time of a step. `interrupted`: the dispatch died; `released`: the dispatch handed the step over;
 * `polled`: the condition does not hold yet; `resumed`: without an answer, because the budget of the day allows more;
 * `not_loaded`: the event with the end is not loaded.
 */
const ENDS = {
  succeeded: ['succeeded', 'good'],
  degraded: ['degraded', 'good'],
  skipped: ['skipped', 'quiet'],
  reused: ['reused', 'good'],
  failed: ['failed', 'bad'],
  retried: ['failed', 'warn'],
  polled: ['condition not met', 'quiet'],
  deferred: ['deferred by the budget', 'quiet'],
  interrupted: ['interrupted: the worker died', 'warn'],
  released: ['released', 'quiet'],
  sent_back: ['sent back', 'warn'],
  answered: ['answered', 'good'],
  resumed: ['resumed', 'good'],
  expired: ['timed out', 'bad'],
  ended: ['ended', 'quiet'],
  not_loaded: ['its end is not loaded', 'quiet'],
} as const satisfies Readonly<Record<string, readonly [words: string, tone: string]>>;

export type SpanEnd = keyof typeof ENDS;

/** A stretch of time; times are epoch ms. */
export interface TimelineSpan {
  readonly kind: 'attempt' | 'wait';
  /** Seq of the first event about it. */
  readonly seq: number;
  readonly revision: number;
  readonly attempt: number;
  readonly from: number;
  /** Absent while the stretch lasts or if its end is unknown. */
  readonly to?: number;
  readonly end?: SpanEnd;
  readonly error?: { readonly code: string; readonly message: string; readonly trace?: string | undefined };
  /** The answer, or why the step was skipped. */
  readonly note?: string;
  readonly waitId?: string;
  /** Set for a wait for another run. */
  readonly childId?: string;
  /** Time of the next attempt, or of the timeout of the wait. */
  readonly dueAt?: number;
}

export interface StepHistory {
  readonly key: string;
  readonly kind: string;
  /** Source location in the flow's code of the last call. */
  readonly location?: string;
  readonly spans: readonly TimelineSpan[];
  /** Attempts of the newest revision. */
  readonly attempts: number;
  /** Duration of the execution that settled last. */
  readonly durationMs?: number;
  readonly summary?: string;
  readonly agent?: string;
  readonly tokensUsed?: { readonly input: number; readonly output: number };
  readonly effects: readonly string[];
}

export function endText({ kind, end }: Pick<TimelineSpan, 'kind' | 'end'>): string {
  if (end !== undefined) return ENDS[end][0];
  return kind === 'wait' ? 'waiting' : 'running';
}

export function endTone(end: SpanEnd | undefined): string {
  return end === undefined ? 'live' : ENDS[end][1];
}
