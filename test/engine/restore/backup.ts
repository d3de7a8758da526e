/** A backup of an installation in memory, without later writes, and its restore into another installation. */
import type { MemoryDatabase, RunDocuments } from '../../../packages/cairn/src/memory/memory-database.ts';

export type Backup = ReadonlyMap<string, unknown>;

/** Copies only the containers, because documents are frozen. */
export function backupOf(db: MemoryDatabase): Backup {
  return new Map(Object.entries(db).map(([name, held]) => [name, copied(held)]));
}

/** Restores into an empty installation. */
export function restoreInto(db: MemoryDatabase, backup: Backup): void {
  for (const [name, held] of backup) {
    const mine: unknown = Reflect.get(db, name);
    if (!(mine instanceof Map)) Reflect.set(db, name, held);
    else for (const [key, value] of copied(held) as Map<unknown, unknown>) mine.set(key, value);
  }
}

function copied(held: unknown): unknown {
  if (held instanceof Map) return new Map([...held].map(([key, value]) => [key, copied(value)]));
  if (held instanceof Set) return new Set(held);
  return isRun(held) ? copyOf(held) : held;
}

function isRun(held: unknown): held is RunDocuments {
  return typeof held === 'object' && held !== null && 'snapshot' in held && !Object.isFrozen(held);
}

function copyOf({ events, checkpoints, steps, ...rest }: RunDocuments): RunDocuments {
  return { ...rest, events: [...events], checkpoints: new Map(checkpoints), steps: new Map(steps) };
}
