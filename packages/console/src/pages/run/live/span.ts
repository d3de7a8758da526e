/** A step as time passed over it: its attempts and its waits, and their ends in words. `step-history.ts` makes them of events. */

/**
 * Ends of a stretch of time of a step. `interrupted`: its dispatch died; `released`: its dispatch handed it over; `polled`: not yet;
 * `resumed`: without an answer, because the budget of the day allows more; `not_loaded`: a later event tells.
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
  /** Absent while it lasts, and where it is not known. */
  readonly to?: number;
  readonly end?: SpanEnd;
  readonly error?: { readonly code: string; readonly message: string; readonly trace?: string | undefined };
  /** The answer, or why the step was skipped. */
  readonly note?: string;
  readonly waitId?: string;
  /** Set for a wait for another run. */
  readonly childId?: string;
  /** When it is tried again, or gives up waiting. */
  readonly dueAt?: number;
}

export interface StepHistory {
  readonly key: string;
  readonly kind: string;
  /** Source location of the flow's code that asked for it last. */
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
