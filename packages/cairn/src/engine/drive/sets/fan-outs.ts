/**
 * Running map steps of a drive: computes their items, starts as many as allowed, and ends a map step when its outcome
 * is decided and none of its items is running.
 *
 * Must not: run a body or open a wait.
 */

import { optional } from '../../../core/optional.ts';
import { listChange } from '../../../core/plan/item-marks.ts';
import type { StepExecution } from '../../../core/run/events.ts';
import { type RunState, stepIdOf, stepKey } from '../../../core/run/state.ts';
import { needsPayload } from '../../../core/run/values.ts';
import { readable } from '../../../core/thrown.ts';
import type { Context } from '../../define/steps.ts';
import * as drafts from '../../facts/drafts.ts';
import { NO_OUTPUT, type Outcome, type Output } from '../../facts/output.ts';
import type { GroupMoves } from '../moves.ts';
import { outputsAt } from '../outputs.ts';
import type { Scope } from '../scope.ts';
import { type Entry, keyOf, mayEnter, type Unit } from '../step-inputs.ts';
import { FanOutSet, itemsOf, type SetStep } from './fan-out-set.ts';

/** An item that ended in an earlier drive; its checkpoint has the result. */
interface DoneItem {
  readonly index: number;
  readonly seq: number;
}

export class FanOuts {
  readonly #scope: Scope;
  readonly #moves: GroupMoves;
  readonly #sets = new Map<string, FanOutSet>();

  constructor(scope: Scope, moves: GroupMoves) {
    this.#scope = scope;
    this.#moves = moves;
  }

  /** True if an item that has not started could start. */
  get canStart(): boolean {
    return this.#sets.values().some((set) => this.#next(set) !== undefined);
  }

  /** Works out the items of a set, and says in the journal that it has begun. */
  open(step: SetStep): void {
    const { journal } = this.#scope;
    const { state } = journal;
    const unit = { step };
    const execution = this.#scope.nextExecution(unit);
    const seen = this.#scope.seenBy(unit);
    const entry = mayEnter(step, seen);
    const set = entry.kind === 'run' ? setOf(step, execution, seen, state) : entry;
    if (!(set instanceof FanOutSet)) {
      this.#scope.guard(this.#moves.notEntered(unit, execution, set));
      return;
    }
    this.#moves.begin(unit);
    const { items } = set;
    // Also of a set that begins here: a successor has the mark of the run whose items it took over.
    const message = listChange(state, { stepId: step.id, revision: execution.revision, items });
    if (message !== undefined) {
      this.#refuse(unit, execution, message);
      return;
    }
    if (state.steps.get(step.id)?.phase !== 'running')
      this.#scope.guard(this.#scope.append([drafts.started(execution, optional('items', items))], execution));
    this.#sets.set(step.id, set);
    this.#scope.guard(this.#takeUpItems(set, state));
  }

  /** Results of its old items must not become those of its new ones, so the run fails whatever `onFailure` says. */
  #refuse({ step }: { readonly step: SetStep }, execution: StepExecution, message: string): void {
    const ending = { step, execution, now: this.#scope.deps.clock.now() };
    const fact = drafts.failed(ending, { code: 'SET_CHANGED', message, stepId: step.id, retryable: false });
    this.#scope.guard(this.#moves.settle({ step }, execution, [fact]));
  }

  /** Begins as many items as there is room for, and closes what is decided. */
  pump(): void {
    for (const set of this.#sets.values()) {
      for (let index = this.#next(set); index !== undefined; index = this.#next(set)) {
        if (!this.#moves.startItem(set.unit(index))) break;
      }
      this.#closeIfFinished(set);
    }
  }

  /** Items begin in their order, so that those that have begun before come first. */
  #next(set: FanOutSet): number | undefined {
    const index = set.next();
    if (index === undefined || !this.#moves.isFull()) return index;
    return this.#scope.journal.state.steps.has(keyOf(set.unit(index))) ? index : undefined;
  }

  mark(stepId: string, index: number, state: 'open' | 'idle'): void {
    this.#sets.get(stepId)?.mark(index, state);
  }

  /** An item has ended. The set's own end is queued right behind that of its last item, and shares its commit. */
  settleItem(stepId: string, index: number, outcome: Outcome): void {
    const set = this.#sets.get(stepId);
    set?.settle(index, outcome);
    if (set) this.#closeIfFinished(set);
  }

  forget(stepId: string): void {
    this.#sets.delete(stepId);
  }

  unitOf(key: string): Unit {
    const stepId = stepIdOf(key);
    const unit = this.#sets.get(stepId)?.unit(Number(key.slice(stepId.length + 1, -1)));
    if (!unit) throw new Error(`run ${this.#scope.runId}: '${key}' is not an item of a running map step`);
    return unit;
  }

  /** Items that wait since an earlier drive, and the results of those that ended in one. */
  async #takeUpItems(set: FanOutSet, state: RunState): Promise<void> {
    const waits = new Map(state.waits.map((wait) => [stepKey(wait.execution), wait]));
    const done: DoneItem[] = [];
    for (let index = 0; index < set.size; index += 1) {
      const key = keyOf(set.unit(index));
      const item = state.steps.get(key);
      const wait = waits.get(key);
      if (wait) this.#moves.hold(wait);
      else if (item?.phase === 'retrying') this.#moves.restAs(key, item);
      else if (item?.phase === 'done' && item.outcome !== 'failed') done.push({ index, seq: item.seq });
    }
    if (done.length === 0) return;
    set.loading = true;
    await this.#scope.counted(() => this.#loadResults(set, done));
    set.loading = false;
    this.#moves.advance();
  }

  /** No more once they are too large together: all of them could be more than a worker holds. */
  async #loadResults(set: FanOutSet, done: readonly DoneItem[]): Promise<void> {
    const { deps, runId } = this.#scope;
    const seqs = done.map(({ seq }) => seq);
    let at = 0;
    for await (const output of outputsAt(deps.store, runId, seqs)) {
      const item = done[at++];
      if (item) set.settle(item.index, { kind: 'done', output });
      if (set.isTooLarge) return;
    }
  }

  #closeIfFinished(set: FanOutSet): void {
    if (set.closed || set.loading || set.verdict === 'open') return;
    this.#letRest(set);
    if (set.finished) this.#close(set);
  }

  /** Items that rest between two attempts are not needed any more. */
  #letRest(set: FanOutSet): void {
    for (let index = 0; index < set.size; index += 1) {
      if (set.stateOf(index) === 'open' && this.#moves.wake(keyOf(set.unit(index)))) set.mark(index, 'idle');
    }
  }

  #close(set: FanOutSet): void {
    const { step, execution } = set;
    set.closed = true;
    const outcome = set.outcome();
    const ending = { step, execution, now: this.#scope.deps.clock.now() };
    if (outcome.kind === 'failed') {
      const fact = drafts.failedByPolicy(ending, outcome.error);
      this.#scope.guard(this.#moves.settle({ step }, execution, [fact]));
      return;
    }
    const output = outcome.kind === 'done' ? outcome.output : NO_OUTPUT;
    const record = (kept: Output) =>
      this.#moves.settle({ step }, execution, [drafts.succeeded(ending, kept)], {
        kind: 'done',
        output: kept,
      });
    this.#scope.guard(
      needsPayload(output.text)
        ? this.#scope.counted(() => this.#scope.kept(output).then(record)).then(this.#moves.advance)
        : record(output),
    );
  }
}

function setOf(
  step: SetStep,
  execution: StepExecution,
  seen: Context,
  state: RunState,
): FanOutSet | Extract<Entry, { kind: 'failed' }> {
  try {
    return new FanOutSet(step, execution, itemsOf(step, seen, state), state);
  } catch (thrown) {
    return { kind: 'failed', cause: readable(thrown) };
  }
}
