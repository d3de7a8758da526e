/** Turns of queries, in a simulated event loop. */
import { expect, test } from '@jest/globals';
import { type EventLoop, QueryTurns } from '../../../packages/local-firestore/src/service/query-turns.ts';

/** An event loop with queries, whose names contain their durations in ms. */
function loop() {
  let now = 0;
  const callbacks: (() => void)[] = [];
  const done: string[][] = [[]];
  const eventLoop: EventLoop = { now: () => now, nextTurn: (callback) => callbacks.push(callback) };
  const turns = new QueryTurns(eventLoop);
  const microtasks = async () => {
    for (let count = 0; count < 10; count += 1) await null;
  };
  return {
    done,
    isIdle: () => callbacks.length === 0,
    async query(name: string) {
      const taken = turns.take().then(() => {
        now += Number(name.slice(1));
        done.at(-1)?.push(name);
      });
      await microtasks();
      return { taken };
    },
    async turn() {
      done.push([]);
      for (const callback of callbacks.splice(0)) callback();
      await microtasks();
    },
  };
}

test('queries that take little time share a turn', async () => {
  const { query, done } = loop();
  for (const name of ['a1', 'b1', 'c1', 'd1']) await query(name);
  expect(done).toEqual([['a1', 'b1', 'c1', 'd1']]);
});

test('after a long query each waiting one has a turn of its own, in the order of arrival', async () => {
  const { query, turn, done, isIdle } = loop();
  for (const name of ['a100', 'b100', 'c1']) await query(name);
  expect(done).toEqual([['a100']]);
  await turn();
  // A query that arrives meanwhile does not overtake.
  await query('d1');
  await turn();
  await turn();
  expect(done).toEqual([['a100'], ['b100'], ['c1'], ['d1']]);
  await turn();
  expect(isIdle()).toBe(true);
  await query('e100');
  await query('f1');
  await turn();
  expect(done.slice(4)).toEqual([['e100'], ['f1']]);
});

test('a turn without a query leaves nothing to be done', async () => {
  const { query, turn, isIdle } = loop();
  await query('a1');
  await turn();
  expect(isIdle()).toBe(true);
});
