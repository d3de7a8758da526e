/** Memory and processor time of the processes of a local cloud. Linux only; elsewhere the figures are null. */
import { readFileSync } from 'node:fs';
import { rounded } from './statistics.ts';

/** Resident memory of all processes, in MB (2^20); null if the system does not report it. */
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

/** Empty if the process or the file system does not exist. */
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

/**
 * Processor time (user and system) of all processes since their start, ms; null if the system does not report it or a process has
 * ended.
 */
export function processorMs(pids: readonly number[]): number | null {
  let ticks = 0;
  for (const pid of pids) {
    // Fields are counted after the name of the program, which is in brackets and may contain anything.
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

/** In ms; null if the system does not report it. */
export interface ProcessorTime {
  readonly cloud: number | null;
  /** All workers: for requests, tasks and spare. */
  readonly workers: number | null;
}

/**
 * Processor use per run, or per step for workloads of steps. In ms; null if the system does not tell, or a process has
 * ended.
 */
export interface ProcessorUse {
  readonly cpuMs: ProcessorTime;
}

/** Runs a workload. `count` returns the number of runs or steps by which the time is divided. */
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
