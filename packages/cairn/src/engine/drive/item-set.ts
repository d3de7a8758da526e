/**
 * A step with several executions, while a dispatch works on it: its items, their progress, and finally their outcome.
 * Results are in item order.
 *
 * Must not: start anything.
 */

import { type ItemState, SetProgress, type SetStatus } from '../../core/decisions/item-progress.ts';
import { Fatal } from '../../core/errors.ts';
import { MAX_STEPS } from '../../core/graph/graph.ts';
import { markOf } from '../../core/plan/item-marks.ts';
import type { RecordedError, StepExecution } from '../../core/run/events.ts';
import { MAX_ITEMS, MAX_PAYLOAD_BYTES } from '../../core/run/limits.ts';
import type { RunState } from '../../core/run/state.ts';
import type { Context } from '../define/steps.ts';
import { composedOutput, type Outcome, type Output } from '../recording/output.ts';
import { keyOf, type SetStep, type Unit } from './step-inputs.ts';

/** @throws Fatal unless it is a list of at most the maximum of items */
export function itemsOf({ id, set }: SetStep, seen: Context, state: RunState): readonly unknown[] {
  const items = set.over(seen);
  if (!Array.isArray(items)) throw new Fatal(`'over' of step '${id}' must return an array`);
  if (items.length > MAX_ITEMS) {
    const advice = `split the list over child runs (step.child), each with at most ${MAX_ITEMS}`;
    throw new Fatal(`step '${id}' has ${items.length} items; the maximum is ${MAX_ITEMS}: ${advice}`);
  }
  if (state.steps.size + items.length > MAX_STEPS) {
    throw new Fatal(
      `the ${items.length} items of step '${id}' bring the run to more than ${MAX_STEPS} steps`,
    );
  }
  // A hole counts as an item; iteration methods would skip the holes of a sparse array.
  return Array.from<unknown>(items);
}

export class ItemSet {
  readonly step: SetStep;
  readonly execution: StepExecution;
  readonly #items: readonly unknown[];
  readonly #progress: SetProgress;
  readonly #outputs: (Output | undefined)[];
  /** Bytes of the whole output so far: brackets, commas and the available results. */
  #bytes: number;
  #firstError: RecordedError | undefined;
  /** Its outcome is being committed. */
  closed = false;
  /** Results of an earlier dispatch are being read. */
  loading = false;

  constructor(step: SetStep, execution: StepExecution, items: readonly unknown[], state: RunState) {
    this.step = step;
    this.execution = execution;
    this.#items = items;
    this.#outputs = new Array(items.length);
    this.#bytes = items.length + 1;
    const states = items.map((_, index) => itemState(state, keyOf(this.unit(index))));
    this.#progress = new SetProgress(states, step.set.completion, step.set.concurrency);
  }

  /** See core/plan/item-marks.ts. */
  get items(): string | undefined {
    return markOf(this.#items);
  }

  get size(): number {
    return this.#items.length;
  }

  get status(): SetStatus {
    return this.isTooLarge ? 'failed' : this.#progress.status;
  }

  /** True if no output can hold the results: no other item is needed, and no result is kept. */
  get isTooLarge(): boolean {
    return this.#bytes > MAX_PAYLOAD_BYTES;
  }

  /** True if decided, and none of its items is running. */
  get finished(): boolean {
    return this.status !== 'open' && this.#progress.open === 0;
  }

  unit(index: number): Unit {
    return { step: this.step, item: { key: String(index), index, value: this.#items[index] } };
  }

  stateOf(index: number): ItemState | undefined {
    return this.#progress.stateOf(index);
  }

  next(): number | undefined {
    return this.closed || this.isTooLarge ? undefined : this.#progress.next();
  }

  /** An item was begun, or (`idle`) released before it ended. */
  mark(index: number, state: 'open' | 'idle'): void {
    this.#progress.settle(index, state);
  }

  settle(index: number, outcome: Outcome): void {
    if (outcome.kind === 'failed') {
      this.#firstError ??= outcome.error;
      this.#progress.settle(index, 'failed');
    } else {
      if (outcome.kind === 'done') this.#keep(index, outcome.output);
      this.#progress.settle(index, 'succeeded');
    }
  }

  #keep(index: number, output: Output): void {
    if (this.isTooLarge) return;
    this.#bytes += Buffer.byteLength(output.text);
    this.#outputs[index] = output;
    if (this.isTooLarge) this.#outputs.length = 0;
  }

  /** Outcome of the map step. Failed and unneeded items count as null. */
  outcome(): Outcome {
    if (this.status === 'failed') return { kind: 'failed', error: this.#error() };
    const text = `[${Array.from(this.#outputs, (output) => output?.text ?? 'null').join(',')}]`;
    const { id: stepId } = this.step;
    const composed = composedOutput(text, `output of step '${stepId}'`);
    if ('code' in composed) return { kind: 'failed', error: { ...composed, stepId } };
    return { kind: 'done', output: composed };
  }

  #error(): RecordedError {
    const { id } = this.step;
    if (this.isTooLarge) {
      const message = `the results of the items of step '${id}' exceed ${MAX_PAYLOAD_BYTES} bytes in total`;
      return { code: 'PAYLOAD_TOO_LARGE', message, stepId: id, retryable: false };
    }
    const failed = this.#items.filter((_, index) => this.stateOf(index) === 'failed').length;
    const first = this.#firstError ? `; the first: ${this.#firstError.message}` : '';
    const message = `${failed} of the ${this.size} items of step '${id}' failed${first}`;
    return { code: 'ITEMS_FAILED', message, stepId: id, retryable: false };
  }
}

/** State of an item for a dispatch that takes over: interrupted items start again. */
function itemState(state: RunState, key: string): ItemState {
  const step = state.steps.get(key);
  switch (step?.phase) {
    case undefined:
    case 'again':
    case 'running':
      return 'idle';
    case 'retrying':
    case 'waiting':
      return 'open';
    case 'done':
      return step.outcome === 'failed' ? 'failed' : 'succeeded';
  }
}
