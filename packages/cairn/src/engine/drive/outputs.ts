/**
 * Outputs of finished steps, kept only while an unfinished step (or the result of the run) needs them. Those of an
 * earlier dispatch are read from their checkpoints in one batch.
 */

import type { RecordedError } from '../../core/run/events.ts';
import type { RunState } from '../../core/run/state.ts';
import type { RunStore } from '../../ports/run-store.ts';
import type { StepDefinition, Workflow } from '../define/steps.ts';
import { type Output, parseFrozen } from '../recording/output.ts';
import { originsOf, originText } from '../stored-text.ts';

/** Checkpoints read in one call. With outputs of the largest size they take 25 MiB. */
export const READ_CHUNK = 100;

export class StepOutputs {
  readonly #outputs = new Map<string, Output>();
  /** Number of unfinished steps that still need an output. */
  readonly #wanted = new Map<string, number>();
  readonly #parsed = new WeakMap<Output, unknown>();
  #result: readonly string[];

  /** `result`: steps whose outputs make the result; empty for a dispatch that only compensates. */
  constructor(
    workflow: Workflow,
    unsettled: Iterable<string>,
    result: readonly string[] = Object.values(workflow.result),
  ) {
    for (const id of unsettled) {
      for (const need of workflow.graph.node(id).needs) this.#want(need);
    }
    for (const id of result) this.#want(id);
    this.#result = result;
  }

  /** UTF-8 bytes of each output that is kept. */
  get held(): ReadonlyMap<string, number> {
    return new Map([...this.#outputs].map(([id, { text }]) => [id, Buffer.byteLength(text)]));
  }

  /** Reads the outputs of earlier dispatches that are still needed. */
  async load(store: RunStore, state: RunState): Promise<void> {
    const missing: { id: string; seq: number }[] = [];
    for (const id of this.#wanted.keys()) {
      const step = state.steps.get(id);
      if (step?.phase === 'done' && step.outcome !== 'failed' && step.outcome !== 'skipped')
        missing.push({ id, seq: step.seq });
    }
    const outputs = await loadOutputs(
      store,
      state.id,
      missing.map(({ seq }) => seq),
    );
    missing.forEach(({ id }, i) => {
      const output = outputs[i];
      if (output) this.#outputs.set(id, output);
    });
  }

  /** Returns true if an unfinished step, or the result of the run, needs the output. */
  wants(id: string): boolean {
    return this.#wanted.has(id);
  }

  put(id: string, output: Output): void {
    if (this.#wanted.has(id)) this.#outputs.set(id, output);
  }

  /** Call when a step has ended: outputs that only this step needed are released. */
  release(step: StepDefinition): void {
    for (const need of new Set(Object.values(step.needs))) this.#release(need);
  }

  /** Call when the run will have no result: outputs that only the result needed are released. */
  releaseResult(): void {
    for (const id of this.#result) this.#release(id);
    this.#result = [];
  }

  get(id: string): Output | undefined {
    return this.#outputs.get(id);
  }

  /** The value of an output, parsed once and frozen, because several bodies share it. Undefined for a skipped step. */
  value(id: string): unknown {
    const output = this.#outputs.get(id);
    if (!output) return undefined;
    if (!this.#parsed.has(output)) this.#parsed.set(output, parseFrozen(output.text));
    return this.#parsed.get(output);
  }

  #want(id: string): void {
    this.#wanted.set(id, (this.#wanted.get(id) ?? 0) + 1);
  }

  #release(id: string): void {
    const left = (this.#wanted.get(id) ?? 0) - 1;
    if (left > 0) this.#wanted.set(id, left);
    else {
      this.#wanted.delete(id);
      this.#outputs.delete(id);
    }
  }
}

export async function loadOutputs(
  store: RunStore,
  runId: string,
  seqs: readonly number[],
): Promise<Output[]> {
  const outputs: Output[] = [];
  for await (const output of outputsAt(store, runId, seqs)) outputs.push(output);
  return outputs;
}

/** Reads the outputs one by one, for callers that may stop early. */
export async function* outputsAt(
  store: RunStore,
  runId: string,
  seqs: readonly number[],
): AsyncGenerator<Output> {
  for (let i = 0; i < seqs.length; i += READ_CHUNK) {
    const checkpoints = await store.readCheckpoints(runId, seqs.slice(i, i + READ_CHUNK));
    const origins = await originsOf(store, runId, checkpoints);
    for (const [at, origin] of origins.entries()) {
      const { seq, outputHash: hash } = checkpoints[at] ?? {};
      if (hash === undefined) throw new Error(`run ${runId}: checkpoint ${seq} does not belong to a step`);
      const text = await originText(store, origin);
      // A run must not refer to a payload of another run.
      const ref = origin.runId === runId ? origin.checkpoint.outputRef : undefined;
      yield { text, hash, ...(ref === undefined ? {} : { ref }) };
    }
  }
}

/** The recorded error of an execution, with the request of its operation. */
export async function failureAt(
  store: RunStore,
  runId: string,
  seq: number,
): Promise<{ readonly error: RecordedError; readonly request?: string | undefined }> {
  const [event] = await store.readEvents(runId, seq - 1, 1);
  if (event?.type !== 'step_failed') throw new Error(`run ${runId}: event ${seq} is not a failure`);
  const { error, request } = event.data;
  return { error, request };
}
