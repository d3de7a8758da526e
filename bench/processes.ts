/** Memory and processor time of the processes of a local cloud. Linux only: elsewhere there is nothing to read, and the figures are null. */
import { readFileSync } from 'node:fs';
import { rounded } from './statistics.ts';

/** Resident memory of all of them, in MB (2^20); null where the system does not tell. */
export function residentMb(pids: readonly number[]): number | null {
  let kb = 0;
  for (const pid of pids) {
    const found = /^VmRSS:\s+(\d+) kB$/m.exec(statusOf(pid));
    if (!found) return null;
    kb += Number(found[1]);
  }
  return Math.round(kb / 1024);
}

function statusOf(pid: number): string {
  return readProc(`/proc/${pid}/status`);
}

/** Empty when there is no such process, or no such file system. */
function readProc(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}

/** Linux reports processor time in ticks of 10 ms, on every architecture (USER_HZ). */
const TICK_MS = 10;

/** Processor time of all of them since they began, user and system, in ms; null where the system does not tell, or one has ended. */
export function processorMs(pids: readonly number[]): number | null {
  let ticks = 0;
  for (const pid of pids) {
    // The name of the program, in brackets, may contain anything; the fields are counted from behind it.
    const fields = statOf(pid).split(') ').at(-1)?.split(' ') ?? [];
    const [user, system] = [Number(fields[11]), Number(fields[12])];
    if (!Number.isFinite(user + system)) return null;
    ticks += user + system;
  }
  return ticks * TICK_MS;
}

function statOf(pid: number): string {
  return readProc(`/proc/${pid}/stat`);
}

/** In ms; null where the system does not tell. */
export interface ProcessorTime {
  readonly cloud: number | null;
  /** All of them: requests, tasks and spare. */
  readonly workers: number | null;
}

/**
 * Processor use per run, or per step for workloads of steps. In ms; null if the system does not tell, or a process has
 * ended.
 */
export interface ProcessorUse {
  readonly cpuMs: ProcessorTime;
}

/** Carries out a workload. `count` says of its figures by how many runs, or steps, the time is shared. */
export async function withProcessorUse<F extends object>(
  cloud: { processor(): Promise<ProcessorTime> },
  work: () => Promise<F>,
  count: (figures: F) => number,
): Promise<F & ProcessorUse> {
  const before = await cloud.processor();
  const figures = await work();
  const after = await cloud.processor();
  const share = (from: number | null, to: number | null) =>
    from === null || to === null || to < from ? null : rounded((to - from) / count(figures), 3);
  return {
    ...figures,
    cpuMs: { cloud: share(before.cloud, after.cloud), workers: share(before.workers, after.workers) },
  };
}
