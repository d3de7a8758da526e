/**
 * Approvals that are sent after {@link UNDO_MS}, and can be undone until then. Each is sent once. When the page is left,
 * waiting approvals are sent at once. Independent of React.
 */

import { Observable } from '../../api/observable.ts';

/** Time to undo, ms. */
export const UNDO_MS = 5_000;

export type ApprovalProgress =
  | { readonly at: 'waiting' }
  | { readonly at: 'sending' }
  | { readonly at: 'failed'; readonly error: unknown };

interface ApprovalQueueOptions<T> {
  /** Called at the approval, so that it is later sent as the person who approved. */
  sender(): ApprovalSender<T>;
  keyOf(item: T): string;
  /** Calls back after `ms`. Returns the function that cancels this. */
  later(ms: number, call: () => void): () => void;
}

/** Sends all, a few at a time; reports each result. Never throws. */
type ApprovalSender<T> = (items: readonly T[], onEnd: (item: T, error: unknown) => void) => Promise<void>;

interface WaitingBatch {
  /** Stops the timer. */
  stop(): void;
  send(): void;
}

/** Shows progress by the keys of the items. */
export class ApprovalQueue<T> extends Observable<ReadonlyMap<string, ApprovalProgress>> {
  readonly #options: ApprovalQueueOptions<T>;
  /** One per approval. */
  readonly #batches = new Map<readonly T[], WaitingBatch>();

  constructor(options: ApprovalQueueOptions<T>) {
    super(new Map());
    this.#options = options;
  }

  /** Items that already wait or are being sent stay as they are. */
  readonly approve = (items: readonly T[]): void => {
    const batch = items.filter((item) => !this.#isUnderWay(item));
    if (batch.length === 0) return;
    this.#set(batch, { at: 'waiting' });
    const sendAll = this.#options.sender();
    const send = () => this.#send(batch, sendAll);
    this.#batches.set(batch, { send, stop: this.#options.later(UNDO_MS, send) });
  };

  /** Withdraws the approvals of the item's batch that have not been sent. */
  readonly undo = (item: T): void => {
    const key = this.#options.keyOf(item);
    for (const [batch, { stop }] of this.#batches) {
      if (!batch.some((one) => this.#options.keyOf(one) === key)) continue;
      stop();
      this.#batches.delete(batch);
      this.#set(batch, undefined);
    }
  };

  /** Sends all waiting approvals at once. */
  readonly flush = (): void => {
    for (const { stop, send } of [...this.#batches.values()]) {
      stop();
      send();
    }
  };

  #send(batch: readonly T[], sendAll: ApprovalSender<T>): void {
    this.#batches.delete(batch);
    this.#set(batch, { at: 'sending' });
    void sendAll(batch, (item, error) =>
      this.#set([item], error === undefined ? undefined : { at: 'failed', error }),
    );
  }

  #isUnderWay(item: T): boolean {
    const state = this.shown().get(this.#options.keyOf(item));
    return state !== undefined && state.at !== 'failed';
  }

  #set(items: readonly T[], state: ApprovalProgress | undefined): void {
    const states = new Map(this.shown());
    for (const item of items) {
      if (state === undefined) states.delete(this.#options.keyOf(item));
      else states.set(this.#options.keyOf(item), state);
    }
    this.become(states);
  }
}
