import { describe, expect, test } from '@jest/globals';
import { movableClock } from '../../packages/local-kit/src/time/clock.ts';

const tick = () => new Promise((resolve) => setTimeout(resolve, 5));

describe('the movable clock', () => {
  test('fires the timers that a move passes, and no others', async () => {
    const clock = movableClock(() => 1_000);
    const woken: number[] = [];
    for (const time of [1_500, 2_000, 2_001]) clock.at(time, () => woken.push(time));
    await tick();
    expect(woken).toEqual([]);
    clock.advance(1_000);
    await tick();
    expect(woken).toEqual([1_500, 2_000]);
    expect(clock.now()).toBe(2_000);
    expect(clock.offsetMs()).toBe(1_000);
  });

  test('a timer in the past fires soon, but never within the call', async () => {
    const clock = movableClock(() => 1_000);
    let woken = false;
    clock.at(0, () => {
      woken = true;
    });
    expect(woken).toBe(false);
    await tick();
    expect(woken).toBe(true);
  });

  test('a cancelled timer does not fire', async () => {
    const clock = movableClock(() => 1_000);
    let woken = false;
    const cancel = clock.at(1_001, () => {
      woken = true;
    });
    cancel();
    clock.advance(10);
    await tick();
    expect(woken).toBe(false);
  });

  test('a timer years ahead does not fire at once', async () => {
    const clock = movableClock(() => 1_000);
    let woken = false;
    const cancel = clock.at(10 ** 12, () => {
      woken = true;
    });
    await tick();
    expect(woken).toBe(false);
    cancel();
  });

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('cannot be moved by %s ms', (ms) => {
    expect(() => movableClock(() => 0).advance(ms)).toThrow(RangeError);
  });
});
