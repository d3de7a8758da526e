import { expect, test } from '@jest/globals';
import { sendUntilKnown } from '../../packages/cairn/src/journal/send-until-known.ts';
import { OutcomeUnknown } from '../../packages/cairn/src/ports/store-errors.ts';
import { settle, VirtualClock } from '../support/virtual-clock.ts';

/** Sends, and loses answers after these times, in ms. */
async function sent(lossesAfterMs: readonly number[]) {
  const clock = new VirtualClock();
  let sendings = 0;
  const send = async () => {
    const lostAfterMs = lossesAfterMs[sendings];
    sendings += 1;
    if (lostAfterMs === undefined) return 'answer';
    clock.jump(lostAfterMs);
    throw new OutcomeUnknown('send', 'its answer was lost');
  };
  const end = sendUntilKnown({ clock, random: { unit: () => 0.5 } as never }, send).catch(({ code }) => code);
  for (let turn = 0; turn < 20; turn += 1) {
    await settle();
    clock.fireNext();
  }
  return { end: await end, sendings };
}

test('a response that was lost while the process was suspended is requested once more', async () => {
  expect(await sent([90_000])).toEqual({ end: 'answer', sendings: 2 });
});

test('a response that was then lost with the connection is requested once more too', async () => {
  expect(await sent([90_000, 0])).toEqual({ end: 'answer', sendings: 3 });
});

test('a store whose second response is late is given up', async () => {
  expect(await sent([11_000, 11_000])).toEqual({ end: 'UNAVAILABLE', sendings: 2 });
});

test('a store that is silent for more than the patience is given up', async () => {
  expect(await sent([8_000, 8_000, 8_000, 8_000])).toEqual({ end: 'UNAVAILABLE', sendings: 3 });
});

test('a store that loses every acknowledgement is given up after eight attempts', async () => {
  expect(await sent(Array(20).fill(0))).toEqual({ end: 'UNAVAILABLE', sendings: 8 });
});
