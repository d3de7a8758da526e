/**
 * The flows that a dispatch runs: begins their code, has what they ask for begun as there is room, and passes them what ended.
 *
 * Must not: run a body or open a wait.
 */
import type { FlowStep } from '../../define/steps.ts';
import * as drafts from '../../facts/drafts.ts';
import type { Outcome } from '../../facts/output.ts';
import type { GroupMoves } from '../moves.ts';
import type { Scope } from '../scope.ts';
import { mayEnter, type Unit } from '../step-inputs.ts';
import { FlowRun } from './flow-run.ts';

export class Flows {
  readonly #scope: Scope;
  readonly #moves: GroupMoves;
  readonly #runs = new Map<string, FlowRun>();
  /** Operations by key. They outlive an attempt of the code: what it began may end during the next. */
  readonly #units = new Map<string, Unit>();

  constructor(scope: Scope, moves: GroupMoves) {
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
