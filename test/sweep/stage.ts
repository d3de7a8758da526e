/**
 * The stage of bodies in virtual time. It counts the starts of each body, and detects a body that began after its success was
 * durable.
 *
 * Must not: be seen by the engine.
 */
import type { RunEvent, SettledType } from '../../packages/cairn/src/core/run/events.ts';
import { isSettled } from '../../packages/cairn/src/core/run/events.ts';
import { isSuccess, stepIdOf, stepKey } from '../../packages/cairn/src/core/run/state.ts';
import type { MemoryDatabase } from '../../packages/cairn/src/memory/memory-database.ts';
import { pause } from '../../packages/cairn/src/ports/clock.ts';
import { never } from '../support/intercept.ts';
import { Process } from './process.ts';
import type { Acting, Stage } from './scenario.ts';

export class VirtualStage implements Stage {
  /** Bodies that began although their success was recorded. */
  readonly repeated: string[] = [];
  /**
   * Other bodies that began although their success was recorded: the queue had delivered the task of their dispatch again, and
   * the store had not yet returned the success to that dispatch. Nothing can prevent such a start, because a process can stall
   * between its last answer and the start of a body. The journal refuses the outcome of such a body.
   */
  readonly overtaken: string[] = [];
  readonly #db: MemoryDatabase;
  readonly #active = new Map<string, Process>();
  readonly #begun = new Map<string, number>();

  constructor(db: MemoryDatabase) {
    this.#db = db;
  }

  async acts(context: Acting, ms = 0): Promise<void> {
    const process = livingProcess();
    if (!process) return never();
    const key = keyOf(context);
    this.#begun.set(key, (this.#begun.get(key) ?? 0) + 1);
    const success = this.#successOf(context);
    if (success) this.#noteRepeated(process, success, { key, context });
    this.#active.set(key, process);
    try {
      if (ms > 0) await pause(process.deps.clock, ms, context.signal);
      context.signal.throwIfAborted();
    } finally {
      this.#active.delete(key);
    }
  }

  async goesOn(context: Acting, ms: number): Promise<void> {
    const process = livingProcess();
    if (!process) return never();
    await pause(process.deps.clock, ms, context.signal);
    context.signal.throwIfAborted();
  }

  memoises(context: Acting, name: string): string {
    const process = livingProcess();
    if (!process) return name;
    const memos = this.#db.memos.get(
      JSON.stringify([context.runId, stepKey(refOf(context)), context.revision]),
    );
    const key = `memo ${name} of ${keyOf(context)}`;
    if (!memos?.has(name)) return name;
    // A memo is no event. A process learns of an earlier memo only when it creates its own.
    if (process.isOutlived) this.overtaken.push(key);
    else this.repeated.push(key);
    return name;
  }

  async undoes(context: Acting, ms = 0): Promise<void> {
    const process = livingProcess();
    if (!process) return never();
    const key = `undo ${keyOf(context)}`;
    this.#begun.set(key, (this.#begun.get(key) ?? 0) + 1);
    const done = this.#events(context.runId).some(
      (event) => event.type === 'step_compensated' && stepKey(event.data) === stepKey(refOf(context)),
    );
    if (done) this.repeated.push(key);
    if (ms > 0) await pause(process.deps.clock, ms, context.signal);
  }

  /** Returns true if a body of this step is running in a live process. */
  isRunning(stepId: string): boolean {
    return [...this.#active].some(
      ([key, process]) => process.alive && stepIdOf(key.split('@')[0] ?? '') === stepId,
    );
  }

  /** Number of starts of each body. */
  get begun(): ReadonlyMap<string, number> {
    return this.#begun;
  }

  #noteRepeated(
    process: Process,
    success: RunEvent,
    { key, context }: { readonly key: string; readonly context: Acting },
  ): void {
    const isUnaware = process.isOutlived && process.toldOf(context.runId) < success.seq;
    if (isUnaware) this.overtaken.push(key);
    else this.repeated.push(key);
  }

  #successOf(context: Acting): RunEvent | undefined {
    const key = stepKey(refOf(context));
    return this.#events(context.runId).find(
      (event) =>
        isSettled(event) &&
        isSuccess(outcomeOf(event)) &&
        stepKey(event.data) === key &&
        event.data.revision === context.revision,
    );
  }

  #events(runId: string): readonly RunEvent[] {
    return this.#db.runs.get(runId)?.events ?? [];
  }
}

/** A process that died continues with what it knows until its next call. Nobody sees that, so its bodies do not count. */
function livingProcess(): Process | undefined {
  const process = Process.current;
  if (!process) throw new Error('a body was called outside of all processes');
  return process.alive ? process : undefined;
}

function refOf({ stepId, revision, index, operation }: Acting) {
  const itemKey = operation ?? (index === undefined ? undefined : String(index));
  return { stepId, revision, ...(itemKey === undefined ? {} : { itemKey }) };
}

function keyOf(context: Acting): string {
  return `${stepKey(refOf(context))}@${context.revision} of ${context.runId}`;
}

function outcomeOf(event: RunEvent<SettledType>): string {
  return event.type.slice('step_'.length);
}
