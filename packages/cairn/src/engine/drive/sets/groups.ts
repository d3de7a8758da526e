/**
 * Steps with several executions, while a drive works on them: sets, whose items are known when they begin, and flows, whose
 * operations their code asks for. Passes each call to the one that it concerns.
 */
import type { StepDefinition } from '../../define/steps.ts';
import type { Outcome } from '../../facts/output.ts';
import { Flows } from '../flows/flows.ts';
import type { GroupMoves } from '../moves.ts';
import type { Scope } from '../scope.ts';
import { isSet, type Unit } from '../step-inputs.ts';
import type { SetStep } from './fan-out-set.ts';
import { FanOuts } from './fan-outs.ts';

type ItemUnit = Unit & { readonly item: NonNullable<Unit['item']> };

export class Groups {
  readonly #scope: Scope;
  readonly #sets: FanOuts;
  readonly #flows: Flows;

  constructor(scope: Scope, moves: GroupMoves) {
    this.#scope = scope;
    this.#sets = new FanOuts(scope, moves);
    this.#flows = new Flows(scope, moves);
  }

  /** True if an item that has not started could start. */
  get canStart(): boolean {
    return this.#sets.canStart || this.#flows.canStart;
  }

  /** Flows whose code may ask for more without anything ending first. */
  get busy(): number {
    return this.#flows.busy;
  }

  /** Opens a set or a flow; false: the step is neither. */
  opens(step: StepDefinition): boolean {
    if (step.kind === 'flow') this.#flows.open(step);
    else if (isSet(step)) this.#sets.open(step as SetStep);
    else return false;
    return true;
  }

  /** Begins as many items as there is room for. */
  pump(): void {
    this.#sets.pump();
    this.#flows.pump();
  }

  mark({ step, item }: ItemUnit, state: 'open' | 'idle'): void {
    if (this.#isOfFlow(step.id)) this.#flows.mark(step.id, item.key, state);
    else this.#sets.mark(step.id, item.index, state);
  }

  /** An item has ended; its event is on its way into the journal. */
  settleItem({ step, item }: ItemUnit, outcome: Outcome): void {
    if (!this.#isOfFlow(step.id)) this.#sets.settleItem(step.id, item.index, outcome);
  }

  /** The journal has the end of the item: what follows from it may be done. */
  itemIsDurable({ step, item }: ItemUnit, outcome: Outcome): void {
    if (this.#isOfFlow(step.id)) this.#flows.ended(step.id, item.key, outcome);
  }

  /** The step has ended. */
  forget(stepId: string): void {
    if (this.#isOfFlow(stepId)) this.#flows.forget(stepId);
    else this.#sets.forget(stepId);
  }

  unitOf(key: string, stepId: string): Unit {
    return this.#isOfFlow(stepId) ? this.#flows.unitOf(key) : this.#sets.unitOf(key);
  }

  /** The dispatch is over. */
  end(): void {
    this.#flows.end();
  }

  #isOfFlow(stepId: string): boolean {
    return this.#scope.step(stepId).kind === 'flow';
  }
}
