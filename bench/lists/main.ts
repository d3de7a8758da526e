/**
 * Requests forty lists of sixty runs with full inboxes at the same time from a local cloud. Measures the duration of each and the
 * memory of the cloud. Fails if one takes a second or longer.
 *
 *     node bench/lists/main.ts
 */
import { setTimeout as wait } from 'node:timers/promises';
import { startMeasuredCloud } from '../cloud/measured-cloud.ts';

const RUNS = 60;
const LISTS = 40;
const MAX_MS = 1_000;
/** 16 signals of 15.5 KiB: just below the 256 KiB of an inbox. */
const SIGNALS = 16;
const DATA = { text: 'x'.repeat(15_870) };
const ROUNDS = 5;

await using cloud = await startMeasuredCloud({
  data: 'memory',
  workers: 2,
  functionsModule: `${import.meta.dirname}/functions.ts`,
});
const { gateway, apiKey } = cloud.ready;
const send = (path: string, body?: object, key = '') =>
  fetch(`${gateway}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body ? { 'content-type': 'application/json', 'idempotency-key': key } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });

for (let i = 0; i < RUNS; i += 1) {
  const started = await send('/v1/runs', { type: 'asleep', input: {} }, `run-${i}`);
  const { runId } = (await started.json()) as { runId: string };
  for (let j = 0; j < SIGNALS; j += 1) {
    const path = `/v1/runs/${runId}/signals`;
    for (let tries = 0; ; tries += 1) {
      const signalled = await send(path, { name: `s${j}`, data: DATA }, `signal-${i}-${j}`);
      const body = await signalled.text();
      if (signalled.ok) break;
      if (signalled.status !== 503 || tries > 20) throw new Error(`${path}: ${signalled.status} ${body}`);
      await wait(250);
    }
  }
}

const before = await cloud.residentMb();
let peak = before ?? 0;
const took: number[] = [];
let bytes = 0;
for (let round = 0; round < ROUNDS; round += 1) {
  await Promise.all(
    Array.from({ length: LISTS }, async () => {
      const startedAt = performance.now();
      const answer = await send(`/v1/runs?limit=${RUNS}`);
      const text = await answer.text();
      const { items } = JSON.parse(text) as { items: unknown[] };
      if (items.length !== RUNS) throw new Error(`${items.length} runs in a list: ${text.slice(0, 200)}`);
      took.push(performance.now() - startedAt);
      bytes = text.length;
    }),
  );
  peak = Math.max(peak, (await cloud.residentMb()) ?? 0);
}
took.sort((a, b) => a - b);
const worst = Math.round(took.at(-1) ?? 0);
const median = Math.round(took[took.length >> 1] ?? 0);
process.stdout.write(`${JSON.stringify({ median, worst, bytes, beforeMb: before, peakMb: peak })}\n`);
if (worst >= MAX_MS) throw new Error(`a list took ${worst} ms; the maximum is ${MAX_MS}`);
