/**
 * The operations of a flow without an answer, each in one phase. Owns the indexes by which the flow finds them: an operation is in
 * those of its phase only.
 *
 * Must not: decide in which phase an operation is (flow-run.ts).
 */
import type { Outcome } from '../../recording/output.ts';
import type { Unit } from '../step-inputs.ts';
import { isEndedFor } from './known-operations.ts';
import type { Answerable } from './recorded-ends.ts';

type OperationPhase =
  /** It waits for room. */
  | { readonly at: 'queued' }
  /** It has begun, rests between two attempts, or waits. */
  | { readonly at: 'begun' }
  /** The code needs it no more, or another dispatch begins it again. */
  | { readonly at: 'left' }
  /** Its end is in the journal, and the code receives it in its turn. `outcome`: present if it ended in this dispatch. */
  | { readonly at: 'recorded'; readonly seq: number; readonly outcome?: Outcome | undefined };

export interface OpenOperation extends Answerable {
  readonly request: string;
  readonly unit: Unit;
  readonly phase: OperationPhase;
}

type RecordedOperation = OpenOperation & { readonly phase: Extract<OperationPhase, { at: 'recorded' }> };

export class OpenOperations {
  readonly #all = new Map<string, OpenOperation>();
  readonly #queued = new Set<OpenOperation>();
  readonly #recorded = new Set<RecordedOperation>();
  readonly #underWay = new Set<OpenOperation>();
  readonly #waits = new Set<OpenOperation>();

  get size(): number {
    return this.#all.size;
  }

  /** Those that wait for room, in the order in which they begin. */
  get queued(): ReadonlySet<OpenOperation> {
    return this.#queued;
  }

  /** Queued or begun operations that the flow must wait for: bodies, and children with `onParentEnd: 'wait'`. */
  get underWay(): ReadonlySet<OpenOperation> {
    return this.#underWay;
  }

  /** Queued or begun waits: others may end them. */
  get waits(): ReadonlySet<OpenOperation> {
    return this.#waits;
  }

  get hasRecorded(): boolean {
    return this.#recorded.size > 0;
  }

  /** The recorded one that is the earliest in the journal. */
  get firstRecorded(): RecordedOperation | undefined {
    let first: RecordedOperation | undefined;
    for (const one of this.#recorded) if (!first || one.phase.seq < first.phase.seq) first = one;
    return first;
  }

  /** The code waits for one operation, which ended in this dispatch. */
  get isOneJustEnded(): boolean {
    const [first] = this.#recorded;
    return this.#all.size === 1 && first?.phase.outcome !== undefined;
  }

  get(name: string): OpenOperation | undefined {
    return this.#all.get(name);
  }

  add(operation: OpenOperation): void {
    this.#all.set(operation.name, operation);
    this.#index(operation);
  }

  move(operation: OpenOperation, phase: OperationPhase): void {
    Object.assign(operation, { phase });
    this.#index(operation);
  }

  remove(operation: OpenOperation): void {
    this.move(operation, { at: 'left' });
    this.#all.delete(operation.name);
  }

  #index(operation: OpenOperation): void {
    const { phase, unit } = operation;
    const isOpen = phase.at === 'queued' || phase.at === 'begun';
    keep(this.#queued, operation, phase.at === 'queued');
    keep(this.#underWay, operation, isOpen && isEndedFor(unit.step));
    keep(this.#waits, operation, isOpen && !('body' in unit.step));
    keep(this.#recorded, operation as RecordedOperation, phase.at === 'recorded');
  }
}

function keep<T>(index: Set<T>, value: T, isKept: boolean): void {
  if (isKept) index.add(value);
  else index.delete(value);
}
