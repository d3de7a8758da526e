/** One Pull call: takes available messages, or waits for the first ones. */
import type { ServerClock } from '@cairn/local-kit/time/clock';
import type { Feed, FeedReceiver, Received } from './feed.ts';

interface PullCall {
  readonly feed: Feed;
  readonly clock: ServerClock;
  readonly most: number;
  readonly returnImmediately: boolean;
  /** Aborted when the caller has disconnected. */
  readonly cancelled: AbortSignal;
}

/** Well within the deadline the clients set for a Pull (60 s). */
const LONGEST_WAIT_MS = 20_000;
const MAX_MESSAGES = 1000;

export function pull({ feed, clock, most, returnImmediately, cancelled }: PullCall): Promise<Received[]> {
  return new Promise((resolve, reject) => {
    const receiver: FeedReceiver = {
      consumer: {
        maxMessages: Math.min(most, MAX_MESSAGES),
        maxBytes: Number.POSITIVE_INFINITY,
        outstanding: 0,
        outstandingBytes: 0,
      },
      leaseMs: () => feed.config.ackDeadlineMs,
      ready: () => true,
      receive: (received) => finish(() => resolve([...received])),
      ended: (error) => finish(() => reject(error)),
    };
    const giveUp = () => finish(() => resolve([]));
    const cancelWait = clock.at(clock.now() + LONGEST_WAIT_MS, giveUp);
    const finish = (settle: () => void) => {
      feed.detach(receiver);
      cancelWait();
      cancelled.removeEventListener('abort', giveUp);
      settle();
    };
    cancelled.addEventListener('abort', giveUp);
    if (!cancelled.aborted) {
      // A pull after a publish finds the published messages.
      feed.admit();
      feed.attach(receiver);
    }
    if (returnImmediately || cancelled.aborted) giveUp();
  });
}
