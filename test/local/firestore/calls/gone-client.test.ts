/** The handler of an answer of many messages ends if its client leaves, even before the first message. */
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sendAll } from '../../../../packages/local-firestore/src/service/calls/drained.ts';

/** A call as in grpc-js, whose client takes one message per turn and leaves after `stay` messages. */
class Call extends Writable {
  cancelled = false;
  readonly taken: unknown[] = [];
  readonly #stay: number;

  constructor(stay: number, highWaterMark: number) {
    super({ objectMode: true, highWaterMark });
    this.#stay = stay;
  }

  override _write(message: unknown, _encoding: string, callback: () => void): void {
    this.taken.push(message);
    if (this.taken.length === this.#stay) this.leave();
    else setImmediate(callback);
  }

  leave(): void {
    this.cancelled = true;
    this.emit('cancelled', 'cancelled');
    this.destroy();
  }
}

test('the handler ends, and generates few messages after the client has left', async () => {
  const settings = fc.record({
    count: fc.nat(40),
    stay: fc.nat(50),
    window: fc.integer({ min: 1, max: 16 }),
  });
  await fc.assert(
    fc.asyncProperty(settings, async ({ count, stay, window }) => {
      const call = new Call(stay, window);
      if (stay === 0) {
        call.leave();
        await once(call, 'close');
      }
      let drawn = 0;
      const messages = function* () {
        while (drawn < count) yield { number: ++drawn };
      };
      let hasEnded = false;
      const sent = sendAll(call, messages()).then(() => {
        hasEnded = true;
      });
      // One message a turn, and some turns for the end.
      for (let i = 0; i < count + 20 && !hasEnded; i++) await turn();
      expect(hasEnded).toBe(true);
      await sent;
      expect(drawn).toBeLessThanOrEqual(stay + window + 1);
      if (stay === 0) expect(call.taken).toEqual([]);
      if (stay > count) expect([drawn, call.writableEnded]).toEqual([count, true]);
    }),
  );
});
