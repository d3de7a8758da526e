/** The stores for work on one run, whose billed operations are counted for it. */
import type { MailboxStore } from '../../ports/mailbox-store.ts';
import type { RunStore } from '../../ports/run-store.ts';
import type { DayBudgetStore } from '../../ports/runs/day-budget-store.ts';
import type { EffectStore } from '../../ports/runs/effect-store.ts';
import { wrapCalls } from '../../ports/wrap-calls.ts';
import { billedCalls, pageReads, readsOf } from './billed.ts';
import type { CostCounter } from './cost-counter.ts';
import { countedRunStore } from './counted-run-store.ts';

interface Stores {
  readonly store: RunStore;
  readonly effects: EffectStore;
  readonly mailboxes: MailboxStore;
  readonly dayBudgets?: DayBudgetStore;
}

export function countedStores(stores: Stores, counter: CostCounter): Stores {
  const { store, effects, mailboxes, dayBudgets } = stores;
  return {
    store: countedRunStore(store, counter),
    effects: wrapCalls(
      effects,
      billedCalls<EffectStore>(counter, {
        rowsOf: ({ length }) => readsOf(length),
        read: () => ({ reads: 1 }),
        change: ({ kind }) => (kind === 'changed' ? { writes: 1 } : {}),
        listOfRun: pageReads,
      }),
    ),
    mailboxes: wrapCalls(
      mailboxes,
      billedCalls<MailboxStore>(counter, {
        read: () => ({ reads: 1 }),
        write: ({ kind }, _address, wanted) =>
          kind !== 'written' ? {} : wanted ? { writes: 1 } : { deletes: 1 },
      }),
    ),
    ...(dayBudgets && {
      dayBudgets: wrapCalls(
        dayBudgets,
        billedCalls<DayBudgetStore>(counter, {
          read: () => ({ reads: 1 }),
          write: ({ kind }) => (kind === 'written' ? { writes: 1 } : {}),
        }),
      ),
    }),
  };
}
