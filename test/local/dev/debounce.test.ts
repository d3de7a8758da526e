import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Debounce } from '../../../packages/local/src/dev/watch-files.ts';

/** A machine whose time a test moves. */
function stage() {
  let now = 0;
  let timer: { at: number; call: () => void } | undefined;
  const taken: { at: number; items: readonly string[] }[] = [];
  const debounce = new Debounce<string>({
    quietMs: 40,
    mostMs: 500,
    now: () => now,
    after(ms, call) {
      const mine = { at: now + ms, call };
      timer = mine;
      return () => {
        if (timer === mine) timer = undefined;
      };
    },
    take: (items) => taken.push({ at: now, items: [...items] }),
  });
  const pass = (ms: number) => {
    const end = now + ms;
    while (timer && timer.at <= end) {
      const due = timer;
      timer = undefined;
      now = Math.max(now, due.at);
      due.call();
    }
    now = end;
  };
  return { debounce, pass, taken };
}

test('changes in quick succession are reported once, after a pause', () => {
  const { debounce, pass, taken } = stage();
  debounce.add('a');
  pass(30);
  debounce.add('b');
  debounce.add('a');
  pass(39);
  expect(taken).toEqual([]);
  pass(1);
  expect(taken).toEqual([{ at: 70, items: ['a', 'b'] }]);
  pass(10_000);
  expect(taken).toHaveLength(1);
});

test('reports nothing after it is stopped', () => {
  const { debounce, pass, taken } = stage();
  debounce.add('a');
  debounce.stop();
  pass(1_000);
  expect(taken).toEqual([]);
});

test('every change is reported within the limit', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ pause: fc.nat(120), item: fc.string({ maxLength: 2 }) })), (changes) => {
      const { debounce, pass, taken } = stage();
      let now = 0;
      const added: { at: number; item: string }[] = [];
      for (const { pause, item } of changes) {
        pass(pause);
        now += pause;
        debounce.add(item);
        added.push({ at: now, item });
      }
      pass(1_000);
      for (const { at, item } of added)
        expect(
          taken.some((round) => round.items.includes(item) && round.at >= at && round.at <= at + 500),
        ).toBe(true);
    }),
  );
});
