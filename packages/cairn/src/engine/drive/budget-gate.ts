/**
 * The budgets that bind a run while a dispatch drives it, its own and that of its tenant's day: admits attempts of bodies, keeps what
 * those under way have reserved, and opens the question when a limit is reached. While the question is open nothing new begins.
 *
 * For the run's own nothing is written: a reservation travels with `step_started`, and what was spent with the end of the attempt.
 * For the day `day-account.ts` writes. Must not: decide what a limit means (core/budget/decision.ts, core/budget/day.ts).
 */
import { type Cost, limitsCost, plainCost } from '../../core/budget/budget.ts';
import { attemptKind, type BudgetRefusal } from '../../core/budget/day.ts';
import {
  type BudgetDecision,
  budgetDecision,
  largerOf,
  spentBy,
  type UnderWay,
} from '../../core/budget/decision.ts';
import { optional } from '../../core/optional.ts';
import type { EventDraft, StepExecution, Wait } from '../../core/run/events.ts';
import type { RunState } from '../../core/run/state.ts';
import { leavesRows } from '../define/capability.ts';
import type { BodyStep } from '../define/steps.ts';
import * as drafts from '../facts/drafts.ts';
import type { Used } from '../facts/output.ts';
import { budgetQuestion, dayQuestion } from '../waits/budget-question.ts';
import { opened } from '../waits/open.ts';
import type { BodyUnit, EndedBody } from './bodies/bodies.ts';
import { DayAccount, type Spender } from './day-account.ts';
import type { StepMoves } from './moves.ts';
import type { Scope } from './scope.ts';
import { keyOf } from './step-inputs.ts';
import { sizeOf } from './waiting/held-waits.ts';
import type { Waiting } from './waiting/waiting.ts';

export interface BudgetMoves extends Pick<StepMoves, 'rest' | 'advance'> {
  readonly waiting: Pick<Waiting, 'freeBytes' | 'opening' | 'hold'>;
  readonly restWithoutRoom: (key: string, bytes: number) => void;
}

export type Admission = Exclude<BudgetDecision, { kind: 'ask' }> | BudgetRefusal;

/** An attempt that cannot begin, or cannot go on, before the run may spend more. */
export interface Stopped {
  readonly unit: BodyUnit;
  readonly execution: StepExecution;
  readonly refusal: BudgetRefusal;
  /** Events that the attempt left, and what it spent; absent: its body did not begin. */
  readonly settled?: readonly EventDraft[];
  readonly spent?: Cost | undefined;
}

/** An attempt that waits for other runs of its tenant looks again after this, and after twice as long each time. */
const BUSY_FIRST_MS = 2_000;
const BUSY_CAP_MS = 60_000;

export class BudgetGate {
  readonly #scope: Scope;
  readonly #moves: BudgetMoves;
  /** Attempts whose end is not in the journal. */
  readonly #underWay = new Map<string, UnderWay>();
  /** By kind of attempt: the most that one cost. */
  readonly #largest = new Map<string, Cost>();
  /** Undefined: the tenant has no limit. */
  readonly #day: DayAccount | undefined;
  #opening = 0;

  /** @param budgetEndsAt when the dispatch must have let go, epoch ms */
  constructor(scope: Scope, moves: BudgetMoves, budgetEndsAt: number) {
    this.#scope = scope;
    this.#moves = moves;
    const { dayBudgets: store, dayLimits } = scope.deps;
    const tenant = dayLimits?.(scope.journal.state.tenantId);
    if (store && tenant)
      this.#day = new DayAccount({ scope, store, tenant, budgetEndsAt, onChange: moves.advance });
  }

  /** True while a person is asked whether the run may spend more. */
  get isAsking(): boolean {
    const { state } = this.#scope.journal;
    if (state.budget === undefined && this.#day === undefined) return false;
    return this.#opening > 0 || hasQuestion(state);
  }

  /** An attempt that may begin counts as under way from here on. */
  admit(unit: BodyUnit, execution: StepExecution): Admission {
    const decision = this.#ofRun(unit);
    if (decision.kind !== 'begin') return decision;
    const ofDay = this.#day?.admit(this.#spender(unit));
    if (ofDay && ofDay.kind !== 'begin') return ofDay;
    if (this.#scope.journal.state.budget) this.#put(unit, execution, decision.reserve);
    return decision;
  }

  #ofRun(unit: BodyUnit): BudgetDecision {
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
    return budgetDecision(budget, beginning, { underWay, startedAt: startedAt ?? createdAt, now });
  }

  /** The body has ended; what it spent is on its way into the journal. Undefined: the run has no budget. */
  ended({ unit, execution, used }: Pick<EndedBody, 'unit' | 'execution' | 'used'>): Cost | undefined {
    const { budget } = this.#scope.journal.state;
    this.#day?.ended(this.#spender(unit), reportedOf(used));
    if (!budget) return undefined;
    const spent = plainCost(spentBy(reportedOf(used), unit.step.estimate));
    const kind = kindOf(unit);
    if (limitsCost(budget)) this.#largest.set(kind, largerOf(this.#largest.get(kind), spent));
    this.#put(unit, execution, spent);
    return spent;
  }

  /** The body was not called. */
  notRun(unit: BodyUnit): void {
    this.#day?.ended(this.#spender(unit), undefined);
  }

  /** Before a call with side effects: why it may not be made. @param mayStop false: the body is not stopped in the middle */
  async effect(mayStop: boolean): Promise<BudgetRefusal | undefined> {
    return this.#day?.effect(mayStop);
  }

  /** Settles what was spent of the day. */
  async close(): Promise<void> {
    await this.#day?.close();
  }

  /** The journal has the end of the attempt. */
  settled(key: string): void {
    this.#underWay.delete(key);
  }

  /** Opens the question, or lets the attempt rest where it is open already, or until other runs of the tenant have settled. */
  async stop(stopped: Stopped): Promise<void> {
    const scope = this.#scope;
    const { refusal } = stopped;
    if (refusal.kind === 'busy') await scope.counted(() => this.#rest(stopped));
    else {
      this.#opening += 1;
      try {
        await scope.counted(() => this.#ask(stopped, this.#questionOf(stopped, refusal)));
      } finally {
        this.#opening -= 1;
        this.settled(keyOf(stopped.unit));
      }
    }
    this.#moves.advance();
  }

  async #rest({ unit, execution, settled = [], spent }: Stopped): Promise<void> {
    const { deps } = this.#scope;
    const bound = Math.min(BUSY_CAP_MS, BUSY_FIRST_MS * 2 ** Math.min(execution.polls ?? 0, 10));
    const at = Math.ceil(deps.clock.now() + bound * (0.5 + deps.random.unit() / 2));
    const again = drafts.retryWithinBudget(execution, at, spent, drafts.budgetHeld(execution));
    await this.#scope.append([...settled, again], execution);
    this.settled(keyOf(unit));
    this.#moves.rest(keyOf(unit), at);
  }

  #questionOf({ unit, execution }: Stopped, refusal: Exclude<BudgetRefusal, { kind: 'busy' }>): Wait {
    const { journal, deps } = this.#scope;
    const asked = { execution, estimate: unit.step.estimate, now: deps.clock.now() };
    return refusal.kind === 'ask'
      ? budgetQuestion(journal.state, { ...asked, reached: refusal.reached })
      : dayQuestion({ ...asked, ...refusal });
  }

  #spender(unit: BodyUnit): Spender {
    const kind = `${this.#scope.workflow.type}:${kindOf(unit)}`;
    return { key: keyOf(unit), kind, estimate: unit.step.estimate };
  }

  #put(unit: BodyUnit, { revision, attempt }: StepExecution, reserved: Cost): void {
    const step = keyOf(unit);
    this.#underWay.set(step, { step, revision, attempt, kind: kindOf(unit), reserved });
  }

  async #ask({ unit, execution, settled = [], spent }: Stopped, wait: Wait): Promise<void> {
    const scope = this.#scope;
    const { waiting, rest, restWithoutRoom } = this.#moves;
    const now = wait.openedAt;
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

function kindOf({ step, item }: { readonly step: BodyStep; readonly item?: BodyUnit['item'] }): string {
  return attemptKind({ stepId: step.id, kind: step.kind, itemKey: item?.key });
}

/** Without the members that the attempt did not report. */
function reportedOf({ tokensUsed, microUsd }: Used): Cost {
  return {
    ...optional('microUsd', microUsd),
    ...(tokensUsed && { tokens: tokensUsed.input + tokensUsed.output }),
  };
}
