/** Memory and state of processes, as the operating system reports them. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

export interface Observed {
  /** Resident memory. */
  readonly mib: number;
  /** True if a signal such as SIGSTOP stopped it. A process that a debugger stopped does not count. */
  readonly isStopped: boolean;
}

/** By process id, without processes that have ended. Empty on Windows. */
export async function observe(pids: readonly number[]): Promise<ReadonlyMap<number, Observed>> {
  if (process.platform === 'win32' || pids.length === 0) return new Map();
  return new Map(process.platform === 'linux' ? await fromProc(pids) : await fromPs(pids));
}

type OfProcess = readonly [pid: number, observed: Observed];

async function fromProc(pids: readonly number[]): Promise<readonly OfProcess[]> {
  const found = await Promise.all(
    pids.map(async (pid) => {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
      const kib = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
      return { pid, kib, state: /^State:\s+(\S)/m.exec(status)?.[1] };
    }),
  );
  return found.flatMap(({ pid, kib, state }) => (kib === undefined ? [] : [observed(pid, kib, state)]));
}

/** @throws nothing: `ps` fails if none of the processes is alive */
async function fromPs(pids: readonly number[]): Promise<readonly OfProcess[]> {
  const listing = promisify(execFile)('ps', ['-o', 'pid=,rss=,stat=', '-p', pids.join(',')]);
  const { stdout } = await listing.catch(() => ({ stdout: '' }));
  return psListing(stdout);
}

/** The processes of a listing with the columns `pid`, `rss` and `stat`. */
export function psListing(listing: string): readonly OfProcess[] {
  return listing
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([pid, kib, state]) => (kib === undefined ? [] : [observed(Number(pid), kib, state)]));
}

/** @param state `T` if it is stopped; of a process with a debugger `t`, or on macOS with an `X` after it */
function observed(pid: number, kib: string, state = ''): OfProcess {
  return [pid, { mib: Number(kib) / 1024, isStopped: state.startsWith('T') && !state.includes('X') }];
}
