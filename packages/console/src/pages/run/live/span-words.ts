/** How a stretch of time of a step ended, in words and in the tone of a status. Pure. */
import type { Span, SpanEnd } from './span.ts';

const WORDS: Readonly<Record<SpanEnd, string>> = {
  succeeded: 'succeeded',
  degraded: 'degraded',
  skipped: 'skipped',
  reused: 'taken over',
  failed: 'failed',
  retried: 'failed, to be tried again',
  polled: 'not yet, to be polled again',
  interrupted: 'cut short: its worker died',
  let_go: 'handed over',
  sent_back: 'sent back',
  answered: 'answered',
  expired: 'nobody answered in time',
  ended: 'ended',
};

const TONES: Readonly<Record<SpanEnd, string>> = {
  succeeded: 'good',
  degraded: 'good',
  reused: 'good',
  answered: 'good',
  failed: 'bad',
  expired: 'bad',
  retried: 'warn',
  interrupted: 'warn',
  sent_back: 'warn',
  polled: 'quiet',
  skipped: 'quiet',
  let_go: 'quiet',
  ended: 'quiet',
};

export function endText({ kind, end }: Pick<Span, 'kind' | 'end'>): string {
  if (end !== undefined) return WORDS[end];
  return kind === 'wait' ? 'waiting' : 'running';
}

export function endTone(end: SpanEnd | undefined): string {
  return end === undefined ? 'live' : TONES[end];
}
