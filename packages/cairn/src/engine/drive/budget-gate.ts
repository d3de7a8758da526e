/**
 * The budget of the run while a dispatch drives it: admits attempts of bodies, keeps what those under way have reserved, and
 * opens the question when a limit is reached. While the question is open nothing new begins.
 *
 * Nothing here is written by itself: a reservation travels with `step_started`, and what was spent with the end of the attempt.
 * Must not: decide what a limit means (core/budget/decision.ts).
 */
import { type BudgetName, type Cost, limitsCost, plainCost } from '../../core/budget/budget.ts';
import {
  type BudgetDecision,
  budgetDecision,
  largerOf,
  spentBy,
  type UnderWay,
} from '../../core/budget/decision.ts';
import { givenName } from '../../core/flow/names.ts';
import { optional } from '../../core/optional.ts';
import type { EventDraft, StepExecution } from '../../core/run/events.ts';
import type { RunState } from '../../core/run/state.ts';
import { leavesRows } from '../define/capability.ts';
import type { BodyStep } from '../define/steps.ts';
import * as drafts from '../facts/drafts.ts';
import type { Used } from '../facts/output.ts';
import { budgetQuestion } from '../waits/budget-question.ts';
import { opened } from '../waits/open.ts';
import type { BodyUnit, EndedBody } from './bodies/bodies.ts';
import type { StepMoves } from './moves.ts';
import type { Scope } from './scope.ts';
import { keyOf } from './step-inputs.ts';
import { sizeOf } from './waiting/held-waits.ts';
import type { Waiting } from './waiting/waiting.ts';

export interface BudgetMoves extends Pick<StepMoves, 'rest' | 'advance'> {
  readonly waiting: Pick<Waiting, 'freeBytes' | 'opening' | 'hold'>;
  readonly restWithoutRoom: (key: string, bytes: number) => void;
}

/** An attempt that cannot begin, or cannot go on, before the run may spend more. */
export interface Stopped {
  readonly unit: BodyUnit;
  readonly execution: StepExecution;
  readonly reached: readonly BudgetName[];
  /** Events that the attempt left, and what it spent; absent: its body did not begin. */
  readonly settled?: readonly EventDraft[];
  readonly spent?: Cost | undefined;
}

export class BudgetGate {
  readonly #scope: Scope;
  readonly #moves: BudgetMoves;
  /** Attempts whose end is not in the journal. */
  readonly #underWay = new Map<string, UnderWay>();
  /** By kind of attempt: the most that one cost. */
  readonly #largest = new Map<string, Cost>();
  #opening = 0;

  constructor(scope: Scope, moves: BudgetMoves) {
    this.#scope = scope;
    this.#moves = moves;
  }

  /** True while a person is asked whether the run may spend more. */
  get isAsking(): boolean {
    const { state } = this.#scope.journal;
    return state.budget !== undefined && (this.#opening > 0 || hasQuestion(state));
  }

  /** An attempt that may begin counts as under way from here on. */
  admit(unit: BodyUnit, execution: StepExecution): BudgetDecision {
    const { journal, deps } = this.#scope;
    const { budget, startedAt, createdAt } = journal.state;
    if (!budget) return { kind: 'begin', reserve: {} };
    const { step } = unit;
    const kind = kindOf(unit);
    const beginning = {
      kind,
      estimate: step.estimate,
      largest: this.#largest.get(kind),
      actsAtOnce: !step.idempotent && step.uses.some(leavesRows),
    };
    const underWay = [...this.#underWay.values()];
    const now = deps.clock.now();
    const decision = budgetDecision(budget, beginning, { underWay, startedAt: startedAt ?? createdAt, now });
    if (decision.kind === 'begin') this.#put(unit, execution, decision.reserve);
    return decision;
  }

  /** The body has ended; what it spent is on its way into the journal. Undefined: the run has no budget. */
  ended({ unit, execution, used }: Pick<EndedBody, 'unit' | 'execution' | 'used'>): Cost | undefined {
    const { budget } = this.#scope.journal.state;
    if (!budget) return undefined;
    const spent = plainCost(spentBy(reportedOf(used), unit.step.estimate));
    const kind = kindOf(unit);
    if (limitsCost(budget)) this.#largest.set(kind, largerOf(this.#largest.get(kind), spent));
    this.#put(unit, execution, spent);
    return spent;
  }

  /** The journal has the end of the attempt. */
  settled(key: string): void {
    this.#underWay.delete(key);
  }

  /** Opens the question, or lets the attempt rest where it is open already. */
  async ask(stopped: Stopped): Promise<void> {
    const scope = this.#scope;
    this.#opening += 1;
    try {
      await scope.counted(() => this.#ask(stopped));
    } finally {
      this.#opening -= 1;
      this.settled(keyOf(stopped.unit));
    }
    this.#moves.advance();
  }

  #put(unit: BodyUnit, { revision, attempt }: StepExecution, reserved: Cost): void {
    const step = keyOf(unit);
    this.#underWay.set(step, { step, revision, attempt, kind: kindOf(unit), reserved });
  }

  async #ask({ unit, execution, reached, settled = [], spent }: Stopped): Promise<void> {
    const scope = this.#scope;
    const { waiting, rest, restWithoutRoom } = this.#moves;
    const now = scope.deps.clock.now();
    const wait = budgetQuestion(scope.journal.state, {
      execution,
      reached,
      estimate: unit.step.estimate,
      now,
    });
    const bytes = sizeOf(wait);
    const resting = [...settled, drafts.retryWithinBudget(execution, now, spent)];
    if (bytes > waiting.freeBytes) {
      await scope.append([...settled, drafts.retryBudgetWhenRoom(execution, now, spent)], execution);
      restWithoutRoom(keyOf(unit), bytes);
      return;
    }
    let isAsked = false;
    const { events } = await waiting.opening(wait, () =>
      scope.append((state) => {
        isAsked = !hasQuestion(state);
        return isAsked ? [...settled, opened(wait, spent)] : resting;
      }, execution),
    );
    if (events.length === 0) return;
    if (isAsked) waiting.hold(wait);
    else rest(keyOf(unit), now);
  }
}

function hasQuestion({ waits }: RunState): boolean {
  return waits.some(({ purpose }) => purpose === 'budget');
}

/** Operations of a flow are alike if the code gives them one name; items are alike. */
function kindOf({ step, item }: { readonly step: BodyStep; readonly item?: BodyUnit['item'] }): string {
  return step.kind === 'step' && item ? `${step.id}[${givenName(item.key)}]` : step.id;
}

/** Without the members that the attempt did not report. */
function reportedOf({ tokensUsed, microUsd }: Used): Cost {
  return {
    ...optional('microUsd', microUsd),
    ...(tokensUsed && { tokens: tokensUsed.input + tokensUsed.output }),
  };
}
