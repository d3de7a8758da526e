/**
 * Changes an event mailbox by compare-and-set. A decision is repeated on the current document, also after a write whose
 * response was lost: each must be a no-op on a mailbox that already has its effect.
 *
 * Concurrent changes of one document by this process are combined in one write: thousands of runs may join one event,
 * and a document supports about one write a second. Between processes the compare-and-set decides; the loser retries
 * after a random time with a doubling bound, together with all changes requested since.
 */
import { type Backoff, backoffBoundMs } from '../../core/decisions/retry.ts';
import { type Mailbox, type MailboxAddress, type Move, mailboxId } from '../../core/mailbox/mailbox.ts';
import { type Clock, pause } from '../../ports/clock.ts';
import type { MailboxStore } from '../../ports/mailbox-store.ts';
import type { Randomness } from '../../ports/randomness.ts';
import { OutcomeUnknown } from '../../ports/store-errors.ts';
import { innermostPort } from '../../ports/wrap-calls.ts';

export interface MailboxDeps {
  readonly mailboxes: MailboxStore;
  readonly clock: Clock;
  readonly random: Randomness;
  /** Time for which a change competes with others; absent: `CHANGE_PATIENCE_MS`. */
  readonly patience?: Patience;
}

export interface Patience {
  readonly ms: number;
  /** Ends it immediately. */
  readonly signal: AbortSignal;
}

type DecideMailbox<T> = (seen: Mailbox | undefined) => Move<T>;

/** Time one change competes with concurrent writes, in ms. */
export const CHANGE_PATIENCE_MS = 10_000;

/** A document takes one write a second. With as many processes as the cap has seconds, it is tried a few times a second. */
const BACKOFF: Backoff = { initialMs: 40, factor: 2, capMs: 10_000 };

/** @throws OutcomeUnknown when patience ended (repeat the call), and errors of `decide` */
export function changeMailbox<T>(
  deps: MailboxDeps,
  address: MailboxAddress,
  decide: DecideMailbox<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const { ms = CHANGE_PATIENCE_MS, signal } = deps.patience ?? {};
    const deadline = deps.clock.now() + ms;
    queueOf(deps.mailboxes, address).add({
      deps,
      decide,
      hasPatience: () => !signal?.aborted && deps.clock.now() < deadline,
      signal,
      resolve: resolve as (result: unknown) => void,
      reject,
    });
  });
}

interface PendingChange {
  readonly deps: MailboxDeps;
  readonly decide: DecideMailbox<unknown>;
  readonly hasPatience: () => boolean;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Queued changes by store and document. Losing them only costs time. */
const QUEUES = new WeakMap<MailboxStore, Map<string, ChangeQueue>>();

function queueOf(store: MailboxStore, address: MailboxAddress): ChangeQueue {
  const shared = innermostPort(store);
  const queues = QUEUES.get(shared) ?? new Map<string, ChangeQueue>();
  QUEUES.set(shared, queues);
  const id = mailboxId(address);
  const queue = queues.get(id) ?? new ChangeQueue(address, () => queues.delete(id));
  queues.set(id, queue);
  return queue;
}

/** The changes of one document. One attempt at a time carries out all changes that wait when it begins. */
class ChangeQueue {
  readonly #address: MailboxAddress;
  readonly #onEmpty: () => void;
  #waiting: PendingChange[] = [];
  #isWorking = false;
  /** Number of consecutive conflicts, which bounds the pause. */
  #lost = 0;
  #wake: AbortController | undefined;

  constructor(address: MailboxAddress, onEmpty: () => void) {
    this.#address = address;
    this.#onEmpty = onEmpty;
  }

  add(change: PendingChange): void {
    this.#waiting.push(change);
    // An aborted caller does not wait for the pause to end.
    change.signal?.addEventListener('abort', () => this.#wake?.abort(), { once: true });
    if (!this.#isWorking) void this.#work();
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    for (let first = this.#waiting[0]; first; first = this.#waiting[0]) {
      const batch = this.#waiting.splice(0);
      const error = await this.#carryOut(first.deps, batch);
      if (error) {
        this.#lost += 1;
        const tried = Map.groupBy(batch, ({ hasPatience }) => hasPatience());
        for (const { reject } of tried.get(false) ?? []) reject(error);
        this.#waiting.unshift(...(tried.get(true) ?? []));
      } else {
        this.#lost = Math.max(0, this.#lost - 1);
      }
      const mustWriteNow = this.#waiting.some(({ hasPatience }) => !hasPatience());
      if (this.#lost > 0 && this.#waiting.length > 0 && !mustWriteNow) await this.#pause(first.deps);
    }
    this.#isWorking = false;
    this.#onEmpty();
  }

  /** Full jitter, so that writers that conflicted do not retry together. */
  async #pause({ clock, random }: MailboxDeps): Promise<void> {
    this.#wake = new AbortController();
    await pause(clock, random.unit() * backoffBoundMs(BACKOFF, this.#lost), this.#wake.signal);
    this.#wake = undefined;
  }

  /** Returns undefined once all changes have their answer. Never rejects. */
  async #carryOut(
    { mailboxes }: MailboxDeps,
    batch: readonly PendingChange[],
  ): Promise<OutcomeUnknown | undefined> {
    try {
      const stored = await mailboxes.read(this.#address);
      const { next, answers } = together(stored?.mailbox, batch);
      if (next !== stored?.mailbox) {
        const { kind } = await mailboxes.write(this.#address, next, stored?.version);
        if (kind === 'stale')
          return new OutcomeUnknown('update of an event mailbox', 'too many concurrent updates');
      }
      for (const answer of answers) answer();
    } catch (error) {
      if (error instanceof OutcomeUnknown) return error;
      for (const { reject } of batch) reject(error);
    }
    return undefined;
  }
}

/** The document after all changes, each of which decides on the result of those before it. */
function together(
  seen: Mailbox | undefined,
  batch: readonly PendingChange[],
): { readonly next: Mailbox | undefined; readonly answers: readonly (() => void)[] } {
  let next = seen;
  const answers = batch.map(({ decide, resolve, reject }) => {
    try {
      const move = decide(next);
      next = move.next;
      return () => resolve(move.result);
    } catch (error) {
      return () => reject(error);
    }
  });
  return { next, answers };
}
