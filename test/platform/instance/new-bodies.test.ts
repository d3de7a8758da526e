import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { admitNewBody } from '../../../packages/cairn/src/platform/instance/new-bodies.ts';

const EVENT = 'cairn:new-body' as 'message';
let answered: PromiseWithResolvers<void>;
let asked: number;
const wait = (waits: unknown) => {
  asked += 1;
  (waits as Promise<void>[]).push(answered.promise);
};
beforeEach(() => {
  answered = Promise.withResolvers();
  asked = 0;
  process.on(EVENT, wait);
});
afterEach(() => {
  process.off(EVENT, wait);
});

test('the first runs of a body wait together; later ones, and those of other bodies, do not', async () => {
  const first = admitNewBody('order ship');
  expect(admitNewBody('order ship')).toBe(first);
  expect(first).toBeInstanceOf(Promise);
  answered.resolve();
  await first;
  expect(admitNewBody('order ship')).toBeUndefined();
  expect(asked).toBe(1);
  expect(admitNewBody('order bill')).toBeInstanceOf(Promise);
});

test('a wait that fails delays a body as long as the others, and fails neither its first run nor a later one', async () => {
  const fails = (waits: unknown) => {
    (waits as Promise<void>[]).push(Promise.reject(new Error('no connection')));
  };
  process.on(EVENT, fails);
  let hasBegun = false;
  const first = admitNewBody('order pack')?.then(() => {
    hasBegun = true;
  });
  process.off(EVENT, fails);
  await new Promise(setImmediate);
  expect(hasBegun).toBe(false);
  answered.resolve();
  await first;
  expect(admitNewBody('order pack')).toBeUndefined();
});

test('nothing waits where nobody listens, as in production', () => {
  process.off(EVENT, wait);
  expect(admitNewBody('order check')).toBeUndefined();
});
