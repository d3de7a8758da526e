/**
 * Owns how a run is found in a trace (W3C trace context): the form of `traceparent`, and the ids of the spans that others
 * than their maker must be able to name. Those are derived and not drawn: a drive after a crash knows the span that its
 * own is part of without anything of the worker that died.
 */
import { sha256Hex } from './encoding/hash.ts';

/** A span as others refer to it. */
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

/** Undefined: there is none, or not in a form that W3C trace context lets anybody believe. */
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

/** The span of a run's start, which all that happens to the run is part of. */
export function runSpan({ id, traceId, traceSampled: sampled }: TracedRun): TraceContext {
  return { traceId, spanId: derived(`run ${id}`), sampled };
}

/**
 * Span of the dispatch that held the lease of this epoch. If it dies, the process that takes the run over reports it.
 */
export function driveSpan({ id, traceId, traceSampled: sampled }: TracedRun, epoch: number): TraceContext {
  return { traceId, spanId: derived(`drive ${id} ${epoch}`), sampled };
}

/** One attempt of a step, as its journal knows it while it is running. */
export interface TracedAttempt {
  readonly epoch: number;
  /** Key of step and item. */
  readonly key: string;
  readonly revision: number;
  readonly attempt: number;
  /** Epoch ms. */
  readonly startedAt: number;
}

/** The span of an attempt, which what it did outside is part of: told of like a drive, should it be cut off. */
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
