import { expect, test } from '@jest/globals';
import { type Customer, migration, PAGE } from '../../examples/migration/migrate.ts';
import { createTestRuntime } from '../../packages/cairn/src/testing/index.ts';

const COUNT = 3_000;

test('3,000 customers are migrated in turns, despite a crash and an outage, and no completed page is read again', async () => {
  const customers = Array.from({ length: COUNT }, (_, i): Customer => {
    return { id: `c${String(i).padStart(5, '0')}`, name: `Customer ${i}` };
  });
  const written = new Map<string, Customer>();
  const pages: (string | null)[] = [];
  let isDown = false;
  const workflow = migration({
    page: async (after, limit) => {
      pages.push(after);
      return customers.filter(({ id }) => after === null || id > after).slice(0, limit);
    },
    write: async (customer) => {
      if (customer.id === 'c02050' && !isDown) {
        isDown = true;
        throw new Error('the store is down');
      }
      written.set(customer.id, customer);
    },
  });
  const runtime = createTestRuntime({ workflows: [workflow] });
  const run = await runtime.start('migrate-customers');
  runtime.crashAfter('migrate[turn.17]');
  expect(await runtime.runToEnd(run)).toBe('completed');
  expect(await run.result()).toEqual({ migrated: { after: 'c02999', moved: COUNT, isDone: true } });
  expect([...written.values()]).toEqual(customers);
  // The last page is empty; the pages of the crash and of the outage were read twice.
  expect(pages).toHaveLength(COUNT / PAGE + 1 + 2);
  expect(new Set(pages).size).toBe(COUNT / PAGE + 1);
});
