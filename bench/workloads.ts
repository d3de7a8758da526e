/**
 * The workloads W1 to W5. Each starts runs through the HTTP API, waits for their completion through it, and returns its figures.
 * No internal data is used.
 *
 * Must not: start or stop a local cloud.
 */
import { randomUUID } from 'node:crypto';
import type { Client } from './client.ts';
import { median, percentile, rounded } from './statistics.ts';

export interface Bench {
  readonly client: Client;
}

const WARM_UP = 5;

export interface Latency {
  readonly n: number;
  /** Unmeasured runs before the measured ones. */
  readonly warmUp: number;
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly minMs: number;
}

/** W1: `n` runs of 10 steps, one at a time. */
export function oneAtATime(bench: Bench, n: number): Promise<Latency> {
  return latency(bench, 'seq-10', n);
}

/** W4: `n` runs of 100 parallel steps and a join, one at a time. */
export function fanOut(bench: Bench, n: number): Promise<Latency> {
  return latency(bench, 'fan-100', n);
}

async function latency({ client }: Bench, type: string, n: number): Promise<Latency> {
  const once = async () => {
    const startedAt = performance.now();
    await client.completed(await client.start(type, { key: randomUUID() }));
    return performance.now() - startedAt;
  };
  for (let i = 0; i < WARM_UP; i += 1) await once();
  const times: number[] = [];
  for (let i = 0; i < n; i += 1) times.push(await once());
  return {
    n,
    warmUp: WARM_UP,
    medianMs: rounded(median(times)),
    p95Ms: rounded(percentile(times, 0.95)),
    minMs: rounded(Math.min(...times)),
  };
}

export interface Throughput {
  readonly runs: number;
  readonly atOnce: number;
  readonly ms: number;
  readonly runsPerS: number;
  readonly stepsPerS: number;
  readonly medianMs: number;
  readonly p95Ms: number;
}

/** W2: many runs of 10 steps, with limited concurrency. */
export async function manyAtOnce(
  { client }: Bench,
  { runs, atOnce }: { runs: number; atOnce: number },
): Promise<Throughput> {
  const times: number[] = [];
  let begun = 0;
  const startedAt = performance.now();
  const caller = async () => {
    while (begun < runs) {
      begun += 1;
      const since = performance.now();
      await client.completed(await client.start('seq-10', { key: randomUUID() }));
      times.push(performance.now() - since);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
  const ms = performance.now() - startedAt;
  return {
    runs,
    atOnce,
    ms: Math.round(ms),
    runsPerS: rounded((runs / ms) * 1_000),
    stepsPerS: Math.round(((runs * 10) / ms) * 1_000),
    medianMs: Math.round(median(times)),
    p95Ms: Math.round(percentile(times, 0.95)),
  };
}

export interface Chain {
  readonly steps: number;
  readonly n: number;
  readonly ms: number;
  readonly msPerStep: number;
}

/** W3: one run of a long chain of steps; the median of `n`. */
export async function chain(
  { client }: Bench,
  { steps, n }: { readonly steps: number; readonly n: number },
): Promise<Chain> {
  const times: number[] = [];
  for (let i = 0; i < n; i += 1) {
    const startedAt = performance.now();
    await client.completed(await client.start(`seq-${steps}`, { key: randomUUID() }));
    times.push(performance.now() - startedAt);
  }
  const ms = median(times);
  return { steps, n, ms: Math.round(ms), msPerStep: rounded(ms / steps, 3) };
}

export interface OneKey {
  readonly starts: number;
  readonly n: number;
  readonly medianMs: number;
  /** Maximum number of different runs for starts with one key; must be 1. */
  readonly runsMade: number;
}

/** W5: concurrent starts with one idempotency key, until all are answered; `n` times. */
export async function oneKey(
  { client }: Bench,
  { starts, n }: { starts: number; n: number },
): Promise<OneKey> {
  const times: number[] = [];
  let runsMade = 0;
  for (let i = 0; i < n; i += 1) {
    const key = randomUUID();
    const startedAt = performance.now();
    const answers = await Promise.all(Array.from({ length: starts }, () => client.start('seq-3', { key })));
    times.push(performance.now() - startedAt);
    runsMade = Math.max(runsMade, new Set(answers).size);
    await client.completed(answers[0] as string);
  }
  return { starts, n, medianMs: rounded(median(times)), runsMade };
}
