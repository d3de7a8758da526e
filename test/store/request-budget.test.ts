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

test('a call that nobody answers is given up when the time is up, and the next one at once', async () => {
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

test('failures of unknown outcome use the time up together, and are told as such until then', async () => {
  const { clock, budget } = made();
  const told = await budget.run(async () => {
    const errors: unknown[] = [];
    for (let sent = 0; sent < 4; sent += 1) {
      errors.push(await call('read', unavailable).catch((error: unknown) => error));
      clock.jump(400);
    }
    return errors;
  });
  expect(told).toEqual([...Array(3).fill(expect.any(OutcomeUnknown)), UP]);
});

test('an answer gives the whole time back: work that goes on may take as long as it takes', async () => {
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

test('outside of a request nothing is given up', async () => {
  expect(RequestBudget.current).toBeUndefined();
  const { clock, budget } = made();
  expect(await budget.run(async () => RequestBudget.current)).toBe(budget);
  expect(clock.nextAt).toBeUndefined();
});
