/**
 * The budgets of a driven run, its own and that of its tenant's day: admits attempts of bodies, keeps the reservations of those
 * under way, and opens the question when a limit is reached. While the question is open, no step begins.
 *
 * The run's own budget needs no write: a reservation travels with `step_started`, and the spending with the end of the attempt.
 * For the day `day-account.ts` writes. Must not: decide the meaning of a limit (core/budget/decision.ts, core/budget/day.ts).
 */
import { limitsSpend, plainSpend, type Spend } from '../../core/budget/budget.ts';
import { attemptKind, type BudgetRefusal } from '../../core/budget/day.ts';
import {
  type BudgetDecision,
  budgetDecision,
  largerOf,
  spentBy,
  type UnderWay,
} from '../../core/budget/decision.ts';
import { type Backoff, backoffBoundMs, halfJitterMs } from '../../core/decisions/retry.ts';
import { optional } from '../../core/optional.ts';
import type { EventDraft, StepExecution, Wait } from '../../core/run/events.ts';
import type { RunState } from '../../core/run/state.ts';
import { leavesRows } from '../define/capability.ts';
import type { BodyStep } from '../define/steps.ts';
import * as build from '../recording/event-builders.ts';
import type { Used } from '../recording/output.ts';
import { budgetQuestion, dayQuestion } from '../waits/budget-question.ts';
import { openedDraft } from '../waits/new-wait.ts';
import { DayAccount, type Spender } from './day-account.ts';
import type { DispatchState } from './dispatch-state.ts';
import type { EndedBody, ExecutionChange } from './messages.ts';
import { changeOf, questionOf } from './next/changes.ts';
import { type BodyUnit, keyOf } from './step-inputs.ts';

type Admission = Exclude<BudgetDecision, { kind: 'ask' }> | BudgetRefusal;

/** An attempt that cannot begin, or cannot continue, before the run may spend more. */
export interface Stopped {
  readonly unit: BodyUnit;
  readonly execution: StepExecution;
  readonly refusal: BudgetRefusal;
  /** Events of the attempt, with its spending; absent: its body did not begin. */
  readonly settled?: readonly EventDraft[];
  readonly spent?: Spend | undefined;
}

/** Delay before an attempt that waits for other runs of its tenant checks again. */
const BUSY_BACKOFF: Backoff = { initialMs: 2_000, factor: 2, capMs: 60_000 };

export class BudgetAdmission {
  readonly #dispatch: DispatchState;
  /** Attempts whose end is not in the journal. */
  readonly #underWay = new Map<string, UnderWay>();
  /** Highest spend so far, by kind of attempt. */
  readonly #largest = new Map<string, Spend>();
  /** Undefined: the tenant has no limit. */
  readonly #day: DayAccount | undefined;
  /** Executions whose question is being committed. */
  readonly #asking = new Set<string>();

  constructor(dispatch: DispatchState) {
    this.#dispatch = dispatch;
    const { dayBudgets: store, dayLimits } = dispatch.deps;
    const tenant = dayLimits?.(dispatch.journal.state.tenantId);
    if (store && tenant) this.#day = new DayAccount({ dispatch, store, tenant });
  }

  /** True while a person is asked whether the run may spend more. */
  get isAsking(): boolean {
    const { state } = this.#dispatch.journal;
    if (state.budget === undefined && this.#day === undefined) return false;
    return this.#asking.size > 0 || hasQuestion(state);
  }

  /** An attempt that may begin counts as under way from here on. */
  admit(unit: BodyUnit, execution: StepExecution): Admission {
    const decision = this.#ofRun(unit);
    if (decision.kind !== 'begin') return decision;
    const ofDay = this.#day?.admit(this.#spender(unit));
    if (ofDay && ofDay.kind !== 'begin') return ofDay;
    if (this.#dispatch.journal.state.budget) this.#put(unit, execution, decision.reserve);
    return decision;
  }

  #ofRun(unit: BodyUnit): BudgetDecision {
    const { journal, deps } = this.#dispatch;
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

  /** Call when the body has ended and its spending is queued for the journal. Returns undefined if the run has no budget. */
  ended({ unit, execution, used }: Pick<EndedBody, 'unit' | 'execution' | 'used'>): Spend | undefined {
    const { budget } = this.#dispatch.journal.state;
    this.#day?.ended(this.#spender(unit), reportedOf(used));
    if (!budget) return undefined;
    const spent = plainSpend(spentBy(reportedOf(used), unit.step.estimate));
    const kind = kindOf(unit);
    if (limitsSpend(budget)) this.#largest.set(kind, largerOf(this.#largest.get(kind), spent));
    this.#put(unit, execution, spent);
    return spent;
  }

  /** Call if the body was not called. */
  notRun(unit: BodyUnit): void {
    this.#day?.ended(this.#spender(unit), undefined);
  }

  /** Returns why a call with side effects may not be made. @param mayStop false: the body is not stopped in the middle */
  async effect(mayStop: boolean): Promise<BudgetRefusal | undefined> {
    return this.#day?.effect(mayStop);
  }

  /** Settles the spending of the day. */
  async close(): Promise<void> {
    await this.#day?.close();
  }

  /** Call once the journal has the end of the attempt, or its question. */
  settled(key: string): void {
    this.#underWay.delete(key);
    this.#asking.delete(key);
  }

  /** Opens the question. If it is already open, or other runs of the tenant must settle first, the attempt only rests. */
  stop(stopped: Stopped): ExecutionChange {
    const { unit, execution, refusal, settled = [], spent } = stopped;
    if (refusal.kind === 'busy') return this.#rest(stopped);
    this.#asking.add(keyOf(unit));
    const wait = this.#questionOf(stopped, refusal);
    const { openedAt: now } = wait;
    const events = [...settled, openedDraft(wait, spent)];
    const withoutRoom = [...settled, build.retryBudgetWhenRoom(execution, now, spent)];
    const change = questionOf(stopped, { wait, events, withoutRoom }, this.#dispatch.waits.freeBytes);
    if (!change.opening) return change;
    const again = build.retryWithinBudget(execution, { at: now, spent });
    const resting = { events: [...settled, again], consequence: { kind: 'rests', at: now } as const };
    return { ...change, decide: (state) => (hasQuestion(state) ? resting : change.decide(state)) };
  }

  #rest({ unit, execution, settled = [], spent }: Stopped): ExecutionChange {
    const { deps, now } = this.#dispatch;
    const bound = backoffBoundMs(BUSY_BACKOFF, (execution.polls ?? 0) + 1);
    const at = Math.ceil(now + halfJitterMs(bound, deps.random.unit()));
    const again = build.retryWithinBudget(execution, { at, spent, error: build.budgetOfOthers(execution) });
    return changeOf({ unit, execution }, [...settled, again], { kind: 'rests', at });
  }

  #questionOf({ unit, execution }: Stopped, refusal: Exclude<BudgetRefusal, { kind: 'busy' }>): Wait {
    const { journal, deps } = this.#dispatch;
    const unitRequest = { execution, estimate: unit.step.estimate, now: deps.clock.now() };
    return refusal.kind === 'ask'
      ? budgetQuestion(journal.state, { ...unitRequest, reached: refusal.reached })
      : dayQuestion({ ...unitRequest, ...refusal });
  }

  #spender(unit: BodyUnit): Spender {
    const kind = `${this.#dispatch.workflow.type}:${kindOf(unit)}`;
    return { key: keyOf(unit), kind, estimate: unit.step.estimate };
  }

  #put(unit: BodyUnit, { revision, attempt }: StepExecution, reserved: Spend): void {
    const step = keyOf(unit);
    this.#underWay.set(step, { step, revision, attempt, kind: kindOf(unit), reserved });
  }
}

function hasQuestion({ waits }: RunState): boolean {
  return waits.some(({ purpose }) => purpose === 'budget');
}

function kindOf({ step, item }: { readonly step: BodyStep; readonly item?: BodyUnit['item'] }): string {
  return attemptKind({ stepId: step.id, kind: step.kind, itemKey: item?.key });
}

/** Without the members that the attempt did not report. */
function reportedOf({ tokensUsed, microUsd }: Used): Spend {
  return {
    ...optional('microUsd', microUsd),
    ...(tokensUsed && { tokens: tokensUsed.input + tokensUsed.output }),
  };
}
