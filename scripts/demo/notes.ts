/** Notes of the demo's steps: start and end of each execution, with its process. */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

export interface Note {
  readonly what: 'begin' | 'end';
  readonly stepId: string;
  readonly pid: number;
}

/** A check may cost the installation a request, so the pauses grow. */
const PAUSE_MS = { first: 50, most: 250, growth: 1.2 };
/** A dead worker is detected after 5 s; the rest allows for a busy machine. */
const LIMIT_MS = 200_000;

/** The complete lines of a file to which processes append. The file may not exist yet, and its last line may be incomplete. */
export function linesIn(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
}

export function readNotes(file: string): Note[] {
  return linesIn(file).map((line) => {
    const [what, stepId = '', pid] = line.split(' ');
    return { what: what === 'end' ? 'end' : 'begin', stepId, pid: Number(pid) };
  });
}

/** Running steps: begun and not ended, in live processes. */
export function underWay(notes: readonly Note[], pid: number): string[] {
  const own = notes.filter((note) => note.pid === pid);
  const ended = new Set(own.filter(({ what }) => what === 'end').map(({ stepId }) => stepId));
  return own.filter(({ what, stepId }) => what === 'begin' && !ended.has(stepId)).map(({ stepId }) => stepId);
}

/** Calls `look` until it returns a value. @throws Error naming the awaited condition */
export async function waitFor<T>(
  what: string,
  probe: () => T | undefined | Promise<T | undefined>,
  limitMs: number = LIMIT_MS,
): Promise<T> {
  const deadline = performance.now() + limitMs;
  let pauseMs = PAUSE_MS.first;
  while (performance.now() < deadline) {
    const found = await probe();
    if (found !== undefined) return found;
    await delay(pauseMs);
    pauseMs = Math.min(pauseMs * PAUSE_MS.growth, PAUSE_MS.most);
  }
  throw new Error(`timed out after ${limitMs} ms waiting for ${what}`);
}
