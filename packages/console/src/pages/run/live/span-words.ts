/** The end of an attempt or wait as words and as the tone of a status. Pure. */
import type { SpanEnd, TimelineSpan } from './span.ts';

const WORDS: Readonly<Record<SpanEnd, string>> = {
  succeeded: 'succeeded',
  degraded: 'degraded',
  skipped: 'skipped',
  reused: 'reused',
  failed: 'failed',
  retried: 'failed',
  polled: 'condition not met',
  deferred: 'deferred by the budget',
  interrupted: 'interrupted: the worker died',
  released: 'released',
  sent_back: 'sent back',
  answered: 'answered',
  resumed: 'resumed',
  expired: 'timed out',
  ended: 'ended',
  not_loaded: 'its end is not loaded',
};

const TONES: Readonly<Record<SpanEnd, string>> = {
  succeeded: 'good',
  degraded: 'good',
  reused: 'good',
  answered: 'good',
  resumed: 'good',
  failed: 'bad',
  expired: 'bad',
  retried: 'warn',
  interrupted: 'warn',
  sent_back: 'warn',
  polled: 'quiet',
  deferred: 'quiet',
  skipped: 'quiet',
  released: 'quiet',
  ended: 'quiet',
  not_loaded: 'quiet',
};

export function endText({ kind, end }: Pick<TimelineSpan, 'kind' | 'end'>): string {
  if (end !== undefined) return WORDS[end];
  return kind === 'wait' ? 'waiting' : 'running';
}

export function endTone(end: SpanEnd | undefined): string {
  return end === undefined ? 'live' : TONES[end];
}
