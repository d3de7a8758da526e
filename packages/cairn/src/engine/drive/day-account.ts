/**
 * The budget of the tenant's day in one dispatch: takes amounts before attempts and calls spend them, and settles the spending
 * when the dispatch ends. One read and two writes for a dispatch that spends; further writes grow with the logarithm of its
 * spending (core/budget/day.ts).
 *
 * Must not: open a question, or decide what fits.
 */
import type { Spend } from '../../core/budget/budget.ts';
import {
  DAY_LIMITS,
  type DayAmounts,
  type DayBudget,
  type DayRefusal,
  type DayTake,
  type DayTakeResult,
  dayAfter,
  dayBefore,
  dayOf,
  newDayBudget,
  of,
  settleHold,
  sumOfAmounts,
  take,
} from '../../core/budget/day.ts';
import type { TenantLimits } from '../../core/budget/day-limits.ts';
import { largerOf, spentBy } from '../../core/budget/decision.ts';
import { messageOf } from '../../core/thrown.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import { pause } from '../../ports/clock.ts';
import type { Version } from '../../ports/run-store.ts';
import type { DayBudgetStore } from '../../ports/runs/day-budget-store.ts';
import type { DispatchState } from './dispatch-state.ts';
import { MOVED } from './messages.ts';

type DayAdmission = { readonly kind: 'begin' } | { readonly kind: 'wait' } | DayRefusal;

export interface Spender {
  readonly key: string;
  /** Attempts of one kind cost about the same. */
  readonly kind: string;
  readonly estimate: Spend | undefined;
}

interface DayAccountParams {
  readonly dispatch: DispatchState;
  readonly store: DayBudgetStore;
  readonly tenant: TenantLimits;
}

/** The share of one day that the dispatch has. */
interface OpenDay {
  readonly at: number;
  readonly day: string;
  seen: SeenBudget | undefined;
  reserved: DayAmounts;
  /** Spent, and reserved by attempts under way. */
  used: DayAmounts;
  /** Attempts under way with a reservation. */
  underWay: number;
  /** The rest of the day does not suffice, unless attempts under way cost less than they reserved. */
  isRefused: boolean;
}

/** The share of an attempt under way. */
interface DayReservation {
  readonly kind: string;
  readonly open: OpenDay;
  readonly need: DayAmounts;
}

interface SeenBudget {
  readonly budget: DayBudget;
  readonly version: Version | undefined;
}

/** Times a document is read again because of concurrent writes. */
const MAX_TRIES = 10;
const AGAIN_MS = 40;

export class DayAccount {
  readonly #params: DayAccountParams;
  readonly #owner: string;
  readonly #days: OpenDay[] = [];
  readonly #reserved = new Map<string, DayReservation>();
  readonly #refused = new Map<string, DayRefusal>();
  /** Highest spend in this dispatch, by kind of attempt without an estimate. */
  readonly #largest = new Map<string, Spend>();
  /** Changes of the document, one after the other. */
  #line: Promise<unknown> = Promise.resolve();
  #isTaking = false;

  constructor(params: DayAccountParams) {
    this.#params = params;
    this.#owner = params.dispatch.deps.random.token();
  }

  /**
   * `wait`: the account posts a message when the answer may have changed. An attempt that begins has its reservation in the
   * document.
   */
  admit(spender: Spender): DayAdmission {
    const { limits } = this.#params.tenant;
    // Calls are admitted one by one by `effect`.
    if (isNone({ ...limits, effects: 0 })) return { kind: 'begin' };
    const open = this.#today();
    const { key } = spender;
    if (!open.seen) return this.#later(() => this.#refresh(open));
    if (this.#awaitsFirst(spender, open)) return { kind: 'wait' };
    const need = this.#needOf(spender, open);
    if (isNone(need) || covers(open.reserved, sumOfAmounts([open.used, need]))) {
      this.#refused.delete(key);
      this.#reserve(spender, open, need);
      return { kind: 'begin' };
    }
    if (open.isRefused && open.underWay > 0) return { kind: 'wait' };
    const refusal = this.#refused.get(key);
    this.#refused.delete(key);
    return refusal ?? this.#later(() => this.#takeFor(key, open, need));
  }

  /** Call when the attempt has ended. @param reported undefined: it did not begin after all */
  ended({ key, kind, estimate }: Spender, reported: Spend | undefined): void {
    const reservation = this.#reserved.get(key);
    if (!reservation) return;
    this.#reserved.delete(key);
    const { open, need } = reservation;
    const spend = reported && spentBy(reported, estimate);
    if (spend && !estimate) this.#largest.set(kind, largerOf(this.#largest.get(kind), spend));
    const spent = spend ? this.#limited({ ...spend, operations: 1 }) : {};
    open.used = difference(sumOfAmounts([open.used, spent]), need);
    if (!isNone(need)) open.underWay -= 1;
    if (open.underWay === 0) open.isRefused = false;
    if (!covers(open.reserved, open.used)) this.#inBackground(() => this.#take(open, {}, { isSpent: true }));
  }

  /**
   * Returns why a call with side effects may not be made. @param mayStop false: the body is not stopped in the middle, so the
   * call is counted in any case
   */
  async effect(mayStop: boolean): Promise<DayRefusal | undefined> {
    const { limits } = this.#params.tenant;
    if (limits.effects === undefined) return undefined;
    const one = { effects: 1 };
    for (;;) {
      const open = this.#today();
      if (covers(open.reserved, sumOfAmounts([open.used, one]))) {
        open.used = sumOfAmounts([open.used, one]);
        return undefined;
      }
      const taken = await this.#inLine(() => this.#take(open, one, { isSpent: !mayStop }));
      if (taken.kind !== 'granted') return refusalOf(taken, open, one);
    }
  }

  /** Settles the spending. If that fails, the hold expires and counts as spent in full. */
  async close(): Promise<void> {
    const { log, clock, settings } = this.#params.dispatch.deps;
    const isClosed = new AbortController();
    const settled = this.#inLine(async () => {
      for (const open of this.#days) {
        try {
          await this.#settle(open);
        } catch (error) {
          log.warn('day_budget_not_settled', { day: open.day, error: messageOf(error) });
        }
      }
      isClosed.abort();
    });
    // A store that does not answer must not delay the next dispatch of the run.
    await Promise.race([settled, pause(clock, settings.graceMs, isClosed.signal)]);
  }

  #today(): OpenDay {
    const at = this.#params.dispatch.deps.clock.now();
    const day = dayOf(at);
    const known = this.#days.find((open) => open.day === day);
    if (known) return known;
    const open = { at, day, seen: undefined, reserved: {}, used: {}, underWay: 0, isRefused: false };
    this.#days.push(open);
    return open;
  }

  /** The first attempt of a kind with unknown spend runs alone, because attempts beside it would reserve nothing. */
  #awaitsFirst(spender: Spender, open: OpenDay): boolean {
    const { microUsd, tokens } = this.#params.tenant.limits;
    if ((microUsd === undefined && tokens === undefined) || this.#expected(spender, open)) return false;
    return [...this.#reserved.values()].some(({ kind }) => kind === spender.kind);
  }

  #needOf(spender: Spender, open: OpenDay): DayAmounts {
    return this.#limited({ ...this.#expected(spender, open), operations: 1 });
  }

  /** Undefined: the attempt has no estimate, and no attempt of its kind has ended. */
  #expected({ kind, estimate }: Spender, { seen }: OpenDay): Spend | undefined {
    const known = this.#largest.get(kind) ?? seen?.budget.largest[kind];
    return estimate ?? known ?? this.#params.tenant.estimate;
  }

  #reserve({ key, kind }: Spender, open: OpenDay, need: DayAmounts): void {
    open.used = sumOfAmounts([open.used, need]);
    if (!isNone(need)) open.underWay += 1;
    this.#reserved.set(key, { kind, open, need });
  }

  /** Runs at most one work at a time: other attempts retry when it has ended. */
  #later(work: () => Promise<unknown>): DayAdmission {
    if (!this.#isTaking) {
      this.#isTaking = true;
      this.#inBackground(async () => {
        try {
          await work();
        } finally {
          this.#isTaking = false;
        }
      });
    }
    return { kind: 'wait' };
  }

  async #takeFor(key: string, open: OpenDay, need: DayAmounts): Promise<void> {
    const taken = await this.#take(open, need, { isSpent: false });
    if (taken.kind === 'granted') return;
    if (open.underWay > 0) open.isRefused = true;
    else this.#refused.set(key, refusalOf(taken, open, need));
  }

  /** Takes the amount that exceeds the rest of the dispatch's hold. */
  async #take(
    open: OpenDay,
    need: DayAmounts,
    { isSpent }: Required<Pick<DayTake, 'isSpent'>>,
  ): Promise<DayTakeResult> {
    const { tenant, dispatch } = this.#params;
    const { budgetMs, graceMs, leaseMs } = dispatch.deps.settings;
    const missing = difference(sumOfAmounts([open.used, need]), open.reserved);
    if (isNone(missing)) return { kind: 'granted', reserved: open.reserved };
    const taking = {
      owner: this.#owner,
      // The platform stops a dispatch at 125 % of its time.
      expiresAt: Math.ceil(dispatch.run.budgetEndsAt + budgetMs / 4 + graceMs + leaseMs),
      reserved: open.reserved,
      need: missing,
      limits: tenant.limits,
      isSpent,
      kinds: this.#kinds(),
    };
    const taken = await this.#change(open, (budget, now) => take(budget, taking, now));
    if (taken.kind === 'granted') open.reserved = taken.reserved;
    return taken;
  }

  async #settle(open: OpenDay): Promise<void> {
    if (!covers(open.reserved, open.used)) await this.#take(open, {}, { isSpent: true });
    if (isNone(open.reserved)) return;
    const settling = { owner: this.#owner, spent: open.used, kinds: this.#kinds() };
    await this.#change(open, (budget) => ({ kind: 'settled', day: settleHold(budget, settling) }));
  }

  /** Repeats the decision until its write succeeds. A decision without a write counts only on a document that was just read. */
  async #change<T extends { readonly kind: string; readonly day?: DayBudget | undefined }>(
    open: OpenDay,
    decide: (budget: DayBudget, now: number) => T,
  ): Promise<T | { readonly kind: 'busy' }> {
    const { dispatch, store } = this.#params;
    const { deps } = dispatch;
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      const isFresh = !open.seen;
      const { budget, version } = open.seen ?? (await this.#refresh(open));
      const decided = decide(budget, deps.clock.now());
      const { day } = decided;
      if (decided.kind === 'reached' || decided.kind === 'busy' || !day) {
        if (isFresh) return decided;
        open.seen = undefined;
        continue;
      }
      const written = await sendUntilKnown(deps, () => store.write(day, version));
      if (written.kind === 'written') {
        open.seen = { budget: day, version: written.version };
        return decided;
      }
      open.seen = undefined;
      if (tries > 1) await pause(deps.clock, AGAIN_MS * tries * deps.random.unit());
    }
    return { kind: 'busy' };
  }

  async #refresh(open: OpenDay): Promise<SeenBudget> {
    open.seen = await this.#read(open);
    return open.seen;
  }

  /** Kinds of attempts are remembered from day to day. */
  async #read(open: OpenDay): Promise<SeenBudget> {
    const { dispatch, store, tenant } = this.#params;
    const { tenantId } = dispatch.journal.state;
    const read = (day: string) => sendUntilKnown(dispatch.deps, () => store.read(tenantId, day));
    const found = await read(open.day);
    if (found) return found;
    const before = await read(dayOf(dayBefore(open.at)));
    const largest = before?.budget.largest ?? {};
    const budget = newDayBudget({ tenantId, day: open.day, limits: tenant.limits, largest });
    return { budget, version: undefined };
  }

  #kinds(): Record<string, Spend> {
    return Object.fromEntries([...this.#largest].filter(([, spend]) => !isNone(spend)));
  }

  #limited(amounts: DayAmounts): DayAmounts {
    const { limits } = this.#params.tenant;
    const members = DAY_LIMITS.flatMap((name) =>
      limits[name] !== undefined && amounts[name] ? [[name, amounts[name]]] : [],
    );
    return Object.fromEntries(members);
  }

  #inLine<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#line.then(work);
    this.#line = done.catch(() => {});
    return done;
  }

  /** Starts work that the dispatch awaits before it ends. */
  #inBackground(work: () => Promise<unknown>): void {
    this.#params.dispatch.background(this.#inLine(work).then(() => MOVED));
  }
}

function refusalOf(
  taken: Exclude<DayTakeResult, { kind: 'granted' }>,
  { at }: OpenDay,
  need: DayAmounts,
): DayRefusal {
  if (taken.kind === 'busy') return taken;
  return { kind: 'reached', reached: taken.names, budget: taken.day, need, until: dayAfter(at) };
}

function covers(reserved: DayAmounts, wanted: DayAmounts): boolean {
  return DAY_LIMITS.every((name) => of(reserved, name) >= of(wanted, name));
}

function isNone(amounts: DayAmounts): boolean {
  return DAY_LIMITS.every((name) => of(amounts, name) === 0);
}

/** Member by member, not below 0. */
function difference(a: DayAmounts, b: DayAmounts): DayAmounts {
  const members = DAY_LIMITS.map((name) => [name, Math.max(0, of(a, name) - of(b, name))]);
  return Object.fromEntries(members);
}
