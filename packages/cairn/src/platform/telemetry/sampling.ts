/**
 * Which traces are kept. Decided from the trace id alone where nobody before has decided, so that every process says the
 * same of one trace, and in the way of OpenTelemetry's consistent sampling, so that other services do too. Pure.
 */
import type { TraceContext } from '../../core/trace.ts';

export interface Sampling {
  /** Whether who calls decides, where it says so (the flag of `traceparent`). */
  readonly parentBased: boolean;
  /** Of traces nobody has decided about, 0 to 1. */
  readonly ratio: number;
}

const NAMES: Readonly<Record<string, boolean>> = { parentbased_traceidratio: true, traceidratio: false };
/** Of a trace id, which are random: the last 14 digits. */
const RANDOM_DIGITS = 14;
const RANDOM_VALUES = 2 ** (4 * RANDOM_DIGITS);

/**
 * What the parameters OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG say.
 *
 * @throws Error naming the parameter that makes no sense
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
