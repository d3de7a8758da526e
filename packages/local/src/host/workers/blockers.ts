/**
 * Users that may block workers, because a worker hung while it had requests of theirs. They are kept apart from others for a minute, or
 * until one of their requests ends in a worker that did not hang. Does not choose workers.
 */
import type { WorkerFacts } from './choice.ts';
import { NO_USER } from './worker-lease.ts';
import type { WorkerProcess } from './worker-process.ts';

const KEPT_MS = 60_000;

/** A request in a worker. */
interface Stay {
  readonly user: string;
  hasHung: boolean;
}

export class Blockers<W extends Pick<WorkerProcess, 'hangs'> = WorkerProcess> {
  readonly #stays = new Map<W, Set<Stay>>();
  /** Time at which each user is forgotten, by `performance.now()`. */
  readonly #until = new Map<string, number>();

  enter(worker: W, user: string): Stay {
    const stay = { user, hasHung: false };
    const stays = this.#stays.get(worker) ?? new Set();
    this.#stays.set(worker, stays.add(stay));
    return stay;
  }

  /** @param isDone true if the request was answered, so that its user does not block workers */
  leave(worker: W, stay: Stay, isDone: boolean): void {
    const stays = this.#stays.get(worker);
    stays?.delete(stay);
    if (stays?.size === 0) this.#stays.delete(worker);
    if (isDone && !stay.hasHung) this.#until.delete(stay.user);
  }

  /** Call it often. */
  check(): void {
    const now = performance.now();
    for (const [user, until] of this.#until) if (until < now) this.#until.delete(user);
    for (const [worker, stays] of this.#stays) {
      if (!worker.hangs) continue;
      for (const stay of stays) {
        stay.hasHung = true;
        if (stay.user !== NO_USER) this.#until.set(stay.user, now + KEPT_MS);
      }
    }
  }

  has(user: string): boolean {
    return this.#until.has(user);
  }

  /** The other users with requests in the worker. */
  companyIn(worker: W, user: string): Pick<WorkerFacts, 'servesOthers' | 'servesBlocker'> {
    // Without users that block, nobody is kept apart.
    const others =
      this.#until.size === 0 ? [] : [...(this.#stays.get(worker) ?? [])].filter((stay) => stay.user !== user);
    return { servesOthers: others.length > 0, servesBlocker: others.some((stay) => this.has(stay.user)) };
  }
}
