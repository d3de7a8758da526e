/**
 * Sampling of traces. An undecided trace is decided from its id alone, so that every process decides the same, and by OpenTelemetry's
 * consistent sampling, so that other services agree. Pure.
 */
import type { TraceContext } from '../../core/trace.ts';

export interface Sampling {
  /** True if a decision of the caller is followed (the flag of `traceparent`). */
  readonly parentBased: boolean;
  /** Share of undecided traces, 0 to 1. */
  readonly ratio: number;
}

const NAMES: Readonly<Record<string, boolean>> = { parentbased_traceidratio: true, traceidratio: false };
/** The random part of a trace id: the last 14 digits. */
const RANDOM_DIGITS = 14;
const RANDOM_VALUES = 2 ** (4 * RANDOM_DIGITS);

/**
 * Sampler from the parameters OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG.
 *
 * @throws Error with the name of the invalid parameter
 */
export function samplingOf({
  sampler,
  ratio,
}: {
  readonly sampler: string;
  readonly ratio: string;
}): Sampling {
  const parentBased = Object.hasOwn(NAMES, sampler) ? NAMES[sampler] : undefined;
  if (parentBased === undefined)
    throw new Error(`OTEL_TRACES_SAMPLER must be one of ${Object.keys(NAMES).join(', ')}`);
  const share = ratio.trim() === '' ? Number.NaN : Number(ratio);
  if (!(share >= 0 && share <= 1)) throw new Error('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1');
  return { parentBased, ratio: share };
}

export function isSampled(
  { parentBased, ratio }: Sampling,
  { traceId, sampled }: Pick<TraceContext, 'traceId' | 'sampled'>,
): boolean {
  if (parentBased && sampled !== undefined) return sampled;
  return Number.parseInt(traceId.slice(-RANDOM_DIGITS), 16) >= (1 - ratio) * RANDOM_VALUES;
}
