/**
 * A circuit breaker for the event bus. After a failure it refuses messages for a pause, so that not every run of the instance waits
 * for a timeout, and it logs the failure once instead of once per run.
 *
 * Must not: buffer messages; the publisher sends them again.
 */
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { BusMessage, EventBus } from '../ports/runs/event-bus.ts';

/** Pause after the first failure. Each further failure doubles it. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** Nothing was sent: the bus rejected earlier messages, and the pause has not ended. */
class BusDown extends Error {
  override readonly name = 'BusDown';
}

interface FusedBusOptions {
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly log: Log;
  /** For the log. */
  readonly topic: string;
}

export class FusedBus implements EventBus {
  readonly #options: FusedBusOptions;
  #pauseMs = 0;
  #closedUntil = 0;

  constructor(options: FusedBusOptions) {
    this.#options = options;
  }

  readonly isReachable = (): boolean => this.#options.bus.isReachable?.() ?? true;

  async publish(messages: readonly BusMessage[]): Promise<void> {
    const { bus, clock } = this.#options;
    if (clock.now() < this.#closedUntil) throw new BusDown('the bus rejected an earlier message');
    try {
      await bus.publish(messages);
    } catch (error) {
      this.#blow(error);
      throw error;
    }
    this.#pauseMs = 0;
  }

  #blow(error: unknown): void {
    const { clock, log, topic } = this.#options;
    const now = clock.now();
    // The first of several concurrent failures has logged it.
    if (now < this.#closedUntil) return;
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, 2 * this.#pauseMs));
    this.#closedUntil = now + this.#pauseMs;
    log.error('run_events_not_taken', { topic, againInMs: this.#pauseMs, error });
  }
}
