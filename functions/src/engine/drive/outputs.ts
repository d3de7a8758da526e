/**
 * Outputs of finished steps, kept only while a step that has not ended needs them (or the result of the run does).
 * Those of an earlier drive are read from their checkpoints, all at once.
 */
import type { PayloadRef } from '../../core/run/events.ts';
import type { RunState } from '../../core/run/state.ts';
import type { RunStore } from '../../ports/run-store.ts';
import type { StepDefinition, Workflow } from '../define/steps.ts';

export interface Output {
  readonly text: string;
  readonly hash: string;
  /** Where it was put, if no checkpoint can carry it. */
  readonly ref?: PayloadRef;
}

/** Checkpoints read in one call. */
const READ_CHUNK = 100;

export class Outputs {
  readonly #outputs = new Map<string, Output>();
  /** How many steps that have not ended still need an output. */
  readonly #wanted = new Map<string, number>();
  readonly #parsed = new WeakMap<Output, unknown>();

  constructor(workflow: Workflow, unsettled: Iterable<string>) {
    for (const id of unsettled) {
      for (const need of workflow.graph.node(id).needs) this.#want(need);
    }
    for (const id of Object.values(workflow.result)) this.#want(id);
  }

  /** Reads what an earlier drive left, as far as it is still needed. */
  async load(store: RunStore, state: RunState): Promise<void> {
    const missing: { id: string; seq: number }[] = [];
    for (const id of this.#wanted.keys()) {
      const step = state.steps.get(id);
      if (step?.phase === 'done' && step.outcome !== 'failed') missing.push({ id, seq: step.seq });
    }
    for (let i = 0; i < missing.length; i += READ_CHUNK) {
      const chunk = missing.slice(i, i + READ_CHUNK);
      const checkpoints = await store.readCheckpoints(
        state.id,
        chunk.map(({ seq }) => seq),
      );
      chunk.forEach(({ id, seq }, j) => {
        const found = checkpoints[j];
        if (found?.outputText === undefined || found.outputHash === undefined) {
          throw new Error(`run ${state.id}: checkpoint ${seq} of step '${id}' carries no output`);
        }
        this.#outputs.set(id, { text: found.outputText, hash: found.outputHash });
      });
    }
  }

  put(id: string, output: Output): void {
    if (this.#wanted.has(id)) this.#outputs.set(id, output);
  }

  /** A step has ended: what only it needed is let go. */
  release(step: StepDefinition): void {
    for (const need of new Set(Object.values(step.needs))) {
      const left = (this.#wanted.get(need) ?? 0) - 1;
      if (left > 0) this.#wanted.set(need, left);
      else {
        this.#wanted.delete(need);
        this.#outputs.delete(need);
      }
    }
  }

  get(id: string): Output | undefined {
    return this.#outputs.get(id);
  }

  /** The value of an output, parsed once and frozen: several bodies see the same. Undefined for a skipped step. */
  value(id: string): unknown {
    const output = this.#outputs.get(id);
    if (!output) return undefined;
    if (!this.#parsed.has(output)) this.#parsed.set(output, parseFrozen(output.text));
    return this.#parsed.get(output);
  }

  #want(id: string): void {
    this.#wanted.set(id, (this.#wanted.get(id) ?? 0) + 1);
  }
}

/** Parses canonical text into a value nobody can change, since several readers share it. */
export function parseFrozen(text: string): unknown {
  return JSON.parse(text, (_key, value) => Object.freeze(value));
}
