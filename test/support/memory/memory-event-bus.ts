/**
 * A bus that keeps published messages in order, for tests.
 *
 * Must not: fail, wait or lose responses by itself; a wrapper does that.
 */
import {
  assertSoundMessages,
  type BusMessage,
  type EventBus,
} from '../../../packages/cairn/src/ports/runs/event-bus.ts';

export class MemoryEventBus implements EventBus {
  readonly #messages: BusMessage[] = [];

  async publish(messages: readonly BusMessage[]): Promise<void> {
    assertSoundMessages(messages);
    this.#messages.push(...messages.map((message) => Object.freeze({ ...message })));
  }

  /** All published messages in order; with `orderingKey` only those of the key. */
  messages(orderingKey?: string): readonly BusMessage[] {
    return this.#messages.filter(
      (message) => orderingKey === undefined || message.orderingKey === orderingKey,
    );
  }
}
