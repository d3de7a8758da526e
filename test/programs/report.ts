/** Report of a failed trial. */
import type { MemoryDatabase } from '../../packages/cairn/src/memory/memory-database.ts';

export interface Findings {
  readonly seed: number;
  readonly problem: string;
  readonly program: unknown;
  readonly db: MemoryDatabase;
  /** Faults of the processes. */
  readonly trail: readonly string[];
}

/** Data of events that matters only to the journal itself. */
const DULL = new Set(['inputsHash', 'outputHash', 'trace', 'resumable', 'idempotent', 'durationMs']);

export function report({ seed, problem, program, db, trail }: Findings): string {
  const runs = [...db.runs].map(([id, { snapshot, wakeAt, events }]) => {
    const { type, status, parent, error, parked, waits, lease, dueAt } = snapshot;
    const head = JSON.stringify(
      { type, status, parent, error, parked, waits, lease, dueAt, wakeAt },
      withoutDull,
    );
    const began = events[0]?.at ?? 0;
    const lines = events.map(
      (event) =>
        `  ${String(event.seq).padStart(4)} +${event.at - began} ${event.type} ${event.writer?.epoch ?? '-'} ${JSON.stringify(event.data, withoutDull)}`,
    );
    return [`run ${id} ${head}`, ...lines].join('\n');
  });
  return [
    `${problem}\n(repeat it with SEED=${seed})`,
    `program: ${JSON.stringify(program)}`,
    `trouble: ${trail.join('; ') || 'none but lost answers and tasks'}`,
    ...runs,
  ].join('\n');
}

function withoutDull(name: string, value: unknown): unknown {
  return DULL.has(name) ? undefined : value;
}
