/**
 * The flows that a dispatch runs: begins their code, has what they ask for begun as there is room, and passes them what ended.
 *
 * Must not: run a body or open a wait.
 */
import type { StepExecution, Wait } from '../../../core/run/events.ts';
import type { RetryingStep } from '../../../core/run/state.ts';
import type { FlowStep } from '../../define/steps.ts';
import * as drafts from '../../facts/drafts.ts';
import type { Outcome } from '../../facts/output.ts';
import type { Scope } from '../scope.ts';
import type { SettleUnit } from '../sets/fan-outs.ts';
import { type Entry, mayEnter, type Unit } from '../step-inputs.ts';
import { FlowRun } from './flow-run.ts';

/** Actions of the drive for a flow. */
export interface FlowMoves {
  readonly begin: (unit: Unit) => void;
  readonly notEntered: (
    unit: Unit,
    execution: StepExecution,
    entry: Exclude<Entry, { kind: 'run' }>,
  ) => Promise<void>;
  readonly settle: SettleUnit;
  /** Begins an operation; false: not in this drive. */
  readonly startItem: (unit: Unit) => boolean;
  readonly hold: (wait: Wait) => void;
  readonly giveUp: (wait: Wait) => Promise<void>;
  readonly rest: (key: string, at: number) => void;
  readonly restAs: (key: string, step: RetryingStep) => void;
  /** Lets go of an operation that rests between two attempts; false: it does not. */
  readonly wake: (key: string) => boolean;
  readonly advance: () => void;
  readonly isStopped: () => boolean;
}

export class Flows {
  readonly #scope: Scope;
  readonly #moves: FlowMoves;
  readonly #runs = new Map<string, FlowRun>();
  /** Operations by key. They outlive an attempt of the code: what it began may end during the next. */
  readonly #units = new Map<string, Unit>();

  constructor(scope: Scope, moves: FlowMoves) {
    this.#scope = scope;
    this.#moves = moves;
  }

  /** Flows whose code may ask for more without anything ending first. */
  get busy(): number {
    return [...this.#runs.values()].filter(({ isBusy }) => isBusy).length;
  }

  /** True if an operation that has not started could start. */
  get canStart(): boolean {
    return this.#runs.values().some((run) => run.next() !== undefined);
  }

  open(step: FlowStep): void {
    const scope = this.#scope;
    const unit = { step };
    const execution = scope.nextExecution(unit);
    const entry = mayEnter(step, scope.seenBy(unit));
    if (entry.kind !== 'run') {
      scope.guard(this.#moves.notEntered(unit, execution, entry));
      return;
    }
    this.#moves.begin(unit);
    const known = scope.journal.state.steps.get(step.id);
    if (known?.phase !== 'running') scope.guard(scope.append([drafts.started(execution)], execution));
    const run = new FlowRun({
      scope,
      moves: this.#moves,
      step,
      execution,
      register: (key, operation) => this.#units.set(key, operation),
    });
    this.#runs.get(step.id)?.drop();
    this.#runs.set(step.id, run);
    run.begin();
  }

  /** Begins as many operations as there is room for. */
  pump(): void {
    for (const run of this.#runs.values()) {
      for (let unit = run.next(); unit !== undefined; unit = run.next()) {
        if (!this.#moves.startItem(unit)) break;
      }
    }
  }

  mark(stepId: string, name: string, state: 'open' | 'idle'): void {
    this.#runs.get(stepId)?.mark(name, state);
  }

  /** An operation has ended, and the journal has it. */
  ended(stepId: string, name: string, outcome: Outcome): void {
    this.#units.delete(`${stepId}[${name}]`);
    this.#runs.get(stepId)?.ended(name, outcome);
  }

  forget(stepId: string): void {
    this.#runs.get(stepId)?.drop();
    this.#runs.delete(stepId);
  }

  /** The dispatch is over. */
  end(): void {
    for (const run of this.#runs.values()) run.drop();
  }

  unitOf(key: string): Unit {
    const unit = this.#units.get(key);
    if (!unit) throw new Error(`run ${this.#scope.runId}: '${key}' is not an operation of a running flow`);
    return unit;
  }
}
