/** Stage for bodies in a real process: they take real time, and append a line to a file that outlives the process. */
import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { stepKey } from '../../../packages/cairn/src/core/run/state.ts';
import { linesIn } from '../../../scripts/demo/notes.ts';
import type { Acting, Stage } from '../../sweep/scenario.ts';

export interface Note {
  readonly what: 'begin' | 'end';
  readonly runId: string;
  /** Step or item, with its revision. */
  readonly key: string;
  readonly pid: number;
  /** Epoch ms, by the worker's clock. */
  readonly at: number;
}

export class NotingStage implements Stage {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  async acts(context: Acting, ms = 0): Promise<void> {
    this.#note('begin', context);
    await this.goesOn(context, ms);
    this.#note('end', context);
  }

  async goesOn({ signal }: Acting, ms: number): Promise<void> {
    if (ms > 0) await delay(ms, undefined, { signal }).catch(() => undefined);
    signal.throwIfAborted();
  }

  async undoes({ signal }: Acting, ms = 0): Promise<void> {
    if (ms > 0) await delay(ms, undefined, { signal });
  }

  memoises(_context: Acting, name: string): string {
    return name;
  }

  /** Times that it has begun, in any process. */
  beginnings(context: Acting): number {
    return beginningsOf(notesIn(this.#file), context.runId, keyOf(context));
  }

  #note(what: Note['what'], context: Acting): void {
    const { runId } = context;
    const note: Note = { what, runId, key: keyOf(context), pid: process.pid, at: Date.now() };
    appendFileSync(this.#file, `${JSON.stringify(note)}\n`);
  }
}

function keyOf({ stepId, revision, index, operation }: Acting): string {
  const itemKey = operation ?? (index === undefined ? undefined : String(index));
  return `${stepKey(itemKey === undefined ? { stepId } : { stepId, itemKey })}@${revision}`;
}

export function notesIn(file: string): Note[] {
  return linesIn(file).map((line) => JSON.parse(line) as Note);
}

/** @param key step or item, with its revision */
export function beginningsOf(notes: readonly Note[], runId: string, key: string): number {
  return notes.filter((note) => note.what === 'begin' && note.runId === runId && note.key === key).length;
}

/** Bodies of the process that have begun and not ended. */
export function underWay(notes: readonly Note[], pid: number): Note[] {
  const own = notes.filter((note) => note.pid === pid);
  const ended = own.filter(({ what }) => what === 'end');
  return own.filter(
    ({ what, runId, key }) =>
      what === 'begin' && !ended.some((note) => note.runId === runId && note.key === key),
  );
}
