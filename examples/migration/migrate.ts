/**
 * A migration as a loop: each turn moves one page of customers and stores its position. A crash repeats at most the page in
 * progress, so moving a customer twice must be harmless.
 */
import { defineWorkflow } from 'cairn';
import { z } from 'zod';

export interface Customer {
  readonly id: string;
  readonly name: string;
}

/** The source and the target of the customers. */
export interface Stores {
  /** The next customers by id. @param after the last id of the previous page; null: from the beginning */
  page(after: string | null, limit: number): Promise<readonly Customer[]>;
  /** Writes a customer under its id. Repeating it changes nothing. */
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
