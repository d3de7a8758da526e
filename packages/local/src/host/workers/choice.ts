/** Decides which worker of a role gets a request. Pure. */
import { MORE_WHILE_HANGING, type RoleSize } from './roles.ts';

/**
 * `late`: it has not answered for less than `blocked`, and may only be slow. `starting`: it has not served yet, or is
 * being probed.
 */
export type Responsiveness = 'starting' | 'responding' | 'late' | 'blocked';

export interface WorkerFacts {
  readonly state: Responsiveness;
  readonly hasRoom: boolean;
  /** Requests in flight. */
  readonly load: number;
  /** True if a request of the same user is among them. */
  readonly servesUser: boolean;
  /** True if a request of another user is among them. */
  readonly servesOthers: boolean;
  /** True if one of those users may block workers. */
  readonly servesBlocker: boolean;
}

interface RoleFacts extends Pick<RoleSize, 'most' | 'growsWhenFull'> {
  /** True if an additional process already serves. */
  readonly hasSpare: boolean;
  /** True if the user may block workers (`blockers.ts`). */
  readonly isBlocker: boolean;
}

/** The index of a worker; `additional`: start another process; `wait` until a worker has room or responds. */
type WorkerChoice = number | 'additional' | 'wait';

/**
 * The least busy worker that responds, because a request in a blocked worker waits for the body that blocks it. Users that block workers
 * must not delay others:
 * - A user waits while it blocks as many workers as it may ({@link mostBlockedBy}).
 * - A user that may block workers gets only workers without requests of others, which would wait too.
 * - All such users together leave one worker to the rest.
 */
export function chooseWorker(workers: readonly WorkerFacts[], role: RoleFacts): WorkerChoice {
  const { most, growsWhenFull, hasSpare, isBlocker } = role;
  const mayGrow = workers.length < most;
  if (!growsWhenFull && most > 1 && blockedBy(workers) >= mostBlockedBy(most)) return 'wait';
  const areApart = !growsWhenFull && most > 1;
  const leavesOne = !areApart || !isBlocker || workers.filter(hasBlocker).length < most - 1;
  const isFit = ({ servesUser, servesOthers, servesBlocker }: WorkerFacts) =>
    !areApart || (isBlocker ? !servesOthers && (servesUser || leavesOne) : !servesBlocker);
  let best: number | undefined;
  for (const [index, worker] of workers.entries()) {
    const { state, hasRoom, load } = worker;
    if (state !== 'responding' || !hasRoom || !isFit(worker)) continue;
    if (best === undefined || load < (workers[best]?.load ?? 0)) best = index;
  }
  if (best !== undefined) return best;
  if (growsWhenFull) return mayGrow ? 'additional' : 'wait';
  const isStuck = workers.every(
    (worker) =>
      worker.state === 'blocked' ||
      (worker.state === 'late' && hasSpare) ||
      (worker.state === 'responding' && !isFit(worker)),
  );
  return mayGrow && leavesOne && workers.length > 0 && isStuck ? 'additional' : 'wait';
}

/** Companions that a user that may block workers may have. */
const hasBlocker = ({ servesUser, servesBlocker }: WorkerFacts) => servesUser || servesBlocker;

/**
 * Number of workers that one user may block: as many as are kept alive, and at least two, so that a user continues while one of its
 * bodies blocks. With up to three kept alive, two users leave one worker to the others.
 */
const mostBlockedBy = (most: number) => Math.max(most - MORE_WHILE_HANGING, Math.min(most - 1, 2));

/** Workers that do not respond and have requests of the user. */
const blockedBy = (workers: readonly WorkerFacts[]) =>
  workers.filter(({ state, servesUser }) => (state === 'late' || state === 'blocked') && servesUser).length;
