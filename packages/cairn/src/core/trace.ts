/**
 * Owns the form of `traceparent` (W3C trace context) and the ids of spans that several processes must be able to name. These ids are
 * derived from the run, not drawn at random, so that after a crash a dispatch knows its parent span without the dead worker.
 */
import { sha256Hex } from './encoding/hash.ts';

/** A reference to a span. */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** Sampling decision; absent: undecided. */
  readonly sampled?: boolean | undefined;
}

export interface TracedRun {
  readonly id: string;
  readonly traceId: string;
  /** Sampling flag of the caller; absent: none. */
  readonly traceSampled?: boolean | undefined;
}

const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_SPAN = '0'.repeat(16);
const SAMPLED_FLAG = 0x01;
const SPAN_ID_DIGITS = 16;

/** Undefined if the header is absent, or invalid by W3C trace context. */
export function parseTraceparent(text: string | null | undefined): TraceContext | undefined {
  const [, version, traceId, spanId, flags, rest] = TRACEPARENT.exec(text ?? '') ?? [];
  if (!traceId || !spanId || !flags || spanId === NO_SPAN) return undefined;
  // Later versions may add members; the first has none.
  if (version === '00' && rest !== undefined) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED_FLAG) !== 0 };
}

export function traceparentOf({ traceId, spanId, sampled = false }: TraceContext): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

/** Span of a run's start, the ancestor of all other spans of the run. */
export function runSpan({ id, traceId, traceSampled: sampled }: TracedRun): TraceContext {
  return { traceId, spanId: derived(`run ${id}`), sampled };
}

/**
 * Span of the dispatch that held the lease of this epoch. If it dies, the process that takes the run over reports it.
 */
export function driveSpan({ id, traceId, traceSampled: sampled }: TracedRun, epoch: number): TraceContext {
  return { traceId, spanId: derived(`drive ${id} ${epoch}`), sampled };
}

/** One attempt of a step, from its journal while it runs. */
interface TracedAttempt {
  readonly epoch: number;
  /** Key of step and item. */
  readonly key: string;
  readonly revision: number;
  readonly attempt: number;
  /** Epoch ms. */
  readonly startedAt: number;
}

/** Span of an attempt, the parent of its external calls. If the worker dies, the process that takes the run over reports it. */
export function attemptSpan(
  { id, traceId, traceSampled: sampled }: TracedRun,
  { epoch, key, revision, attempt, startedAt }: TracedAttempt,
): TraceContext {
  return {
    traceId,
    spanId: derived(`attempt ${id} ${epoch} ${key} ${revision} ${attempt} ${startedAt}`),
    sampled,
  };
}

function derived(what: string): string {
  return sha256Hex(`cairn span ${what}`).slice(0, SPAN_ID_DIGITS);
}
