/**
 * A migration in turns: each turn of the loop moves one page of customers and remembers where it is. A crash repeats at most the page that
 * was under way, so moving a customer must bear to be done twice.
 */
import { defineWorkflow } from 'cairn';
import { z } from 'zod';

export interface Customer {
  readonly id: string;
  readonly name: string;
}

/** The source and the target of the customers. */
export interface Stores {
  /** The next ones by their ids. @param after the last id of the page before; null: from the first */
  page(after: string | null, limit: number): Promise<readonly Customer[]>;
  /** Writes a customer under its id: a second time changes nothing. */
  write(customer: Customer): Promise<void>;
}

export const PAGE = 100;

export const migration = (stores: Stores) =>
  defineWorkflow({
    type: 'migrate-customers',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const migrated = step.loop('migrate', {
        output: z.object({ after: z.string().nullable(), moved: z.number(), isDone: z.boolean() }),
        state: () => ({ after: null, moved: 0, isDone: false }),
        while: ({ state }) => !state.isDone,
        max: 1_000,
        timeout: '5m',
        retry: { maxAttempts: 5 },
        body: async ({ state, log }) => {
          const customers = await stores.page(state.after, PAGE);
          for (const customer of customers) await stores.write(customer);
          const moved = state.moved + customers.length;
          log('moved a page', { moved });
          return { after: customers.at(-1)?.id ?? state.after, moved, isDone: customers.length < PAGE };
        },
      });
      return { migrated };
    },
  });
