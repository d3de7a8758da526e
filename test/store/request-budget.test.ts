import { expect, test } from '@jest/globals';
import { CairnError } from '../../packages/cairn/src/core/errors.ts';
import { OutcomeUnknown } from '../../packages/cairn/src/ports/store-errors.ts';
import { call } from '../../packages/cairn/src/store/call.ts';
import { RequestBudget } from '../../packages/cairn/src/store/request-budget.ts';
import { settle, VirtualClock } from '../support/virtual-clock.ts';

const BUDGET_MS = 1_000;
const never = () => new Promise<never>(() => {});
const unavailable = async () => {
  throw Object.assign(new Error('down'), { code: 14 });
};
const UP = expect.objectContaining({ code: 'UNAVAILABLE' });

function made() {
  const clock = new VirtualClock();
  return { clock, budget: new RequestBudget(clock, BUDGET_MS) };
}

test('a call without a response is abandoned after the budget, and the next one at once', async () => {
  const { clock, budget } = made();
  const work = budget.run(async () => {
    const first = await call('read', never).catch((error: unknown) => error);
    const second = await call('write', never).catch((error: unknown) => error);
    return [first, second];
  });
  await settle();
  expect(clock.fireNext()).toBe(true);
  expect(await work).toEqual([UP, UP]);
  expect((await work)[0]).toBeInstanceOf(CairnError);
});

test('failures of unknown outcome share the time budget, and are reported as such until it is used up', async () => {
  const { clock, budget } = made();
  const outcome = await budget.run(async () => {
    const errors: unknown[] = [];
    for (let sent = 0; sent < 4; sent += 1) {
      errors.push(await call('read', unavailable).catch((error: unknown) => error));
      clock.jump(400);
    }
    return errors;
  });
  expect(outcome).toEqual([...Array(3).fill(expect.any(OutcomeUnknown)), UP]);
});

test('a response resets the budget: continuing work is not limited', async () => {
  const { clock, budget } = made();
  const answered = await budget.run(async () => {
    const answers: unknown[] = [];
    for (let sent = 0; sent < 9; sent += 1) {
      await call('read', unavailable).catch(() => undefined);
      clock.jump(400);
      answers.push(await call('read', async () => sent));
    }
    return answers;
  });
  expect(answered).toHaveLength(9);
});

test('outside a request no call is abandoned', async () => {
  expect(RequestBudget.current).toBeUndefined();
  const { clock, budget } = made();
  expect(await budget.run(async () => RequestBudget.current)).toBe(budget);
  expect(clock.nextAt).toBeUndefined();
});
