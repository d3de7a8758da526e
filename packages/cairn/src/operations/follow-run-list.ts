/**
 * Follows a list of runs: tells each run of it once, and then whatever changes. It works in rounds: what has changed when
 * one begins is told in it, so that a run that changes often is told in its newest state, and at most once a round.
 *
 * Must not: hold more than the list as it is and what is being told of it, however slowly its reader takes it.
 */
import { type Clock, pause } from '../ports/clock.ts';
import type { ListedRun, RunFilter } from '../ports/run-store.ts';
import type { RunListWatch } from '../ports/runs/run-list-watch.ts';
import { Bell } from './bell.ts';

/** From the beginning of one round to that of the next, at least, ms: a person sees no more than five moves a second. */
const ROUND_MS = 200;

export interface FollowListDeps {
  readonly watch: RunListWatch;
  readonly clock: Clock;
}

export interface FollowingList {
  readonly filter: RunFilter;
  /** Number of newest runs. */
  readonly limit: number;
  /** Silence after which `quiet` is reported, ms. */
  readonly quietMs: number;
  /** Tell the list as it is, and end. */
  readonly onlyNow?: boolean;
  /** When the following ends; epoch ms. */
  readonly until: number;
  /** Ends the following at once. */
  readonly signal: AbortSignal;
}

export type FollowedList =
  /** Is new in the list, or has changed. */
  | { readonly kind: 'run'; readonly run: ListedRun }
  /** Was told, and is not in the list any more: it matches no longer, is deleted, or newer ones have taken its place. */
  | { readonly kind: 'gone'; readonly runId: string }
  /** All that was in the list at first has been told. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'quiet' };

/** Comes to its end when it is told to, or when its time is over. @throws what the watch has failed with */
export async function* followRunList(
  { watch, clock }: FollowListDeps,
  { filter, limit, quietMs, onlyNow, until, signal }: FollowingList,
): AsyncGenerator<FollowedList> {
  const list = new NewestList(clock);
  const told = new Map<string, string>();
  let isReady = false;
  let quietAt = clock.now() + quietMs;
  const stop = watch.watchRuns(filter, limit, list);
  try {
    for (;;) {
      const beganAt = clock.now();
      if (beganAt >= until || signal.aborted) return;
      const runs = await list.next(Math.min(quietAt, until) - beganAt, signal);
      const roundAt = clock.now();
      const round = runs === undefined ? [] : roundOf(runs, told);
      if (runs && !isReady) {
        round.push({ kind: 'ready' });
        isReady = true;
      }
      if (round.length === 0 && roundAt >= quietAt && roundAt < until) round.push({ kind: 'quiet' });
      yield* round;
      if (isReady && onlyNow) return;
      if (round.length > 0) quietAt = clock.now() + quietMs;
      // What only bears a sign of life is nothing new, and comes as often.
      if (runs) await pause(clock, Math.min(roundAt + ROUND_MS, until) - clock.now(), signal);
    }
  } finally {
    stop();
  }
}

/** Differences from the last report, newest first; they then count as reported. */
function roundOf(runs: readonly ListedRun[], told: Map<string, string>): FollowedList[] {
  const there = new Set(runs.map(({ state }) => state.id));
  const round: FollowedList[] = [];
  for (const runId of [...told.keys()].filter((id) => !there.has(id))) {
    told.delete(runId);
    round.push({ kind: 'gone', runId });
  }
  for (const run of runs) {
    const { id, headHash } = run.state;
    // All that a run shows is folded from the journal that this hash ends, but for what it has cost.
    const shown = `${headHash} ${JSON.stringify(run.soft.cost)}`;
    if (told.get(id) === shown) continue;
    told.set(id, shown);
    round.push({ kind: 'run', run });
  }
  return round;
}

/** The list as the watch told it last, until somebody takes it. */
class NewestList {
  readonly #bell: Bell;
  #runs: readonly ListedRun[] | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(clock: Clock) {
    this.#bell = new Bell(clock);
  }

  onRuns(runs: readonly ListedRun[]): void {
    this.#runs = runs;
    this.#bell.ring();
  }

  onError(error: unknown): void {
    this.#failure = { error };
    this.#bell.ring();
  }

  /** Undefined when nothing was told within `forMs`, or the signal aborted. @throws what the watch has failed with */
  async next(forMs: number, signal: AbortSignal): Promise<readonly ListedRun[] | undefined> {
    if (!this.#runs && !this.#failure) await this.#bell.wait(forMs, signal);
    if (this.#failure) throw this.#failure.error;
    const runs = this.#runs;
    this.#runs = undefined;
    return runs;
  }
}
