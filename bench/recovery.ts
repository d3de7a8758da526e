/**
 * Measures the time from the SIGKILL of a worker that runs a step to the next start of that step. Uses only the clock of the
 * machine.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { control, type Ready } from '../packages/local/src/cloud-process.ts';
import { type Beginning, beginningsIn } from './beginnings.ts';
import type { MeasuredCloud } from './cloud/measured-cloud.ts';
import { openQueues } from './cloud/queues.ts';
import { median, percentile } from './statistics.ts';

export interface KillToNextStep {
  readonly n: number;
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly minMs: number;
  readonly maxMs: number;
}

/** Promised limit for the median. */
export const RECOVERS_WITHIN_MS = 1_000;

/** Promised limit if the task is lost too. On a busy machine the maximum may exceed it, because cold starts take longer. */
export const RECOVERS_LOST_WITHIN_MS = 90_000;

/** Not longer than the timeout of the body. */
const PATIENCE_MS = 240_000;
const LOOK_MS = 10;
/** Time without a change of processes after which a cloud is at rest, with its spare worker loaded. */
const REST_MS = 4_000;

export interface Kills {
  readonly kills: number;
  /** True if the task is deleted too, so that only the scan finds the run. */
  readonly isTaskLost: boolean;
}

export async function killToNextStep(
  cloud: MeasuredCloud,
  { kills: n, isTaskLost }: Kills,
): Promise<KillToNextStep> {
  const times: number[] = [];
  for (let i = 0; i < n; i += 1) times.push(await once(cloud, isTaskLost));
  // The next kill needs a cloud with all its processes.
  await atRest(cloud.ready);
  return {
    n,
    medianMs: Math.round(median(times)),
    p95Ms: Math.round(percentile(times, 0.95)),
    minMs: Math.min(...times),
    maxMs: Math.max(...times),
  };
}

/** W6: a run whose worker is killed (SIGKILL) in its last step. */
export interface Resume {
  readonly type: string;
  readonly steps: number;
  readonly n: number;
  /** From the kill to the next start of that step. */
  readonly medianMs: number;
  readonly maxMs: number;
  /** Maximum number of earlier steps that ran again. */
  readonly repeated: number;
}

export async function resumed(
  cloud: MeasuredCloud,
  { type, steps, n }: Pick<Resume, 'type' | 'steps' | 'n'>,
): Promise<Resume> {
  const { client, folder, ready } = cloud;
  const times: number[] = [];
  let repeated = 0;
  for (let i = 0; i < n; i += 1) {
    await atRest(ready);
    const mark = join(folder, `${type}-${randomUUID()}`);
    const runId = await client.start(type, { input: { mark }, key: randomUUID() });
    await client.completed(runId);
    const [first, second] = await beginnings(mark, 2);
    times.push((second as Beginning).at - (first as Beginning).at);
    const ends = (await client.events(runId)).filter((event) => event.type === 'step_succeeded');
    // A flow counts as a step that ends too.
    const others = type.includes('flow') ? 1 : 0;
    repeated = Math.max(repeated, ends.length - others - steps);
    await answered(ready);
  }
  return { type, steps, n, medianMs: Math.round(median(times)), maxMs: Math.max(...times), repeated };
}

async function once({ client, folder, ready }: MeasuredCloud, isTaskLost: boolean): Promise<number> {
  const mark = join(folder, `held-${randomUUID()}`);
  const runId = await client.start('held', { input: { mark }, key: randomUUID() });
  const [first] = await beginnings(mark, 1);
  await atRest(ready);
  const { workers } = await pidsOf(ready);
  if (!first || !workers.includes(first.pid)) throw new Error(`the worker of ${runId} ended before its kill`);
  if (isTaskLost) {
    await using queues = openQueues(ready);
    // Purging also prevents the repetition of running tasks.
    await queues.purge();
  }
  const killedAt = Date.now();
  process.kill(first.pid, 'SIGKILL');
  const [, second] = await beginnings(mark, 2);
  await client.completed(runId);
  await answered(ready);
  killIfAlive((second as Beginning).pid);
  return (second as Beginning).at - killedAt;
}

/**
 * A process for one dispatch ends by itself after its response. Killed earlier, it would count as killed by its dispatch, and the
 * next suspect would wait for a new process.
 */
async function answered(ready: Ready): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  while (performance.now() < until) {
    const { roles } = await pidsOf(ready);
    if (!Object.keys(roles).some((role) => role.startsWith('alone:'))) return;
    await pause(REST_MS / 10);
  }
  throw new Error(`a process for one dispatch has not ended in ${PATIENCE_MS / 1_000} s`);
}

/**
 * A process of the function for suspects ends after its dispatch. A worker for tasks stays, and would be warm at the next kill.
 */
function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function beginnings(mark: string, wanted: number): Promise<readonly Beginning[]> {
  const until = performance.now() + PATIENCE_MS;
  while (performance.now() < until) {
    const found = beginningsIn(mark);
    if (found.length >= wanted) return found;
    await pause(LOOK_MS);
  }
  throw new Error(`the step has not begun ${wanted} times in ${PATIENCE_MS / 1_000} s`);
}

async function atRest(ready: Ready): Promise<void> {
  let since = performance.now();
  let before = '';
  while (performance.now() - since < REST_MS) {
    const now = JSON.stringify(await pidsOf(ready));
    if (now !== before) since = performance.now();
    before = now;
    await pause(REST_MS / 10);
  }
}

function pidsOf(ready: Ready): Promise<Ready['pids']> {
  return control<Ready['pids']>(ready, 'GET', '/pids');
}
