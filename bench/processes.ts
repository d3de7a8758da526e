/** What the processes of a local cloud take of memory. Linux only: elsewhere there is nothing to read, and it says so. */
import { readFileSync } from 'node:fs';

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
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
