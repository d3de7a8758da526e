/** Resident memory of processes. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** MiB by process id, without processes that have ended. Empty on Windows. */
export async function residentMib(pids: readonly number[]): Promise<ReadonlyMap<number, number>> {
  if (process.platform === 'win32' || pids.length === 0) return new Map();
  const found = process.platform === 'linux' ? await Promise.all(pids.map(fromProc)) : await fromPs(pids);
  return new Map(found.flatMap(([pid, kib]) => (kib === undefined ? [] : [[pid, kib / 1024]])));
}

type Resident = readonly [pid: number, kib: number | undefined];

async function fromProc(pid: number): Promise<Resident> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return [pid, kib === undefined ? undefined : Number(kib)];
}

/** @throws nothing: `ps` fails if none of the processes is alive */
async function fromPs(pids: readonly number[]): Promise<readonly Resident[]> {
  const listing = promisify(execFile)('ps', ['-o', 'pid=,rss=', '-p', pids.join(',')]);
  const { stdout } = await listing.catch(() => ({ stdout: '' }));
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([pid, kib]) => (pid === undefined || kib === undefined ? [] : [[pid, kib] as const]));
}
