/**
 * Schedules an early scan of a run that could not receive an event because its plan version is not deployed. The regular scan
 * would be a day later, and nothing else delivers the event when that version is back (collect.ts).
 *
 * Must not: append anything.
 */
import { taskName } from '../../core/encoding/task-name.ts';
import type { RunState } from '../../core/run/state.ts';
import { LONGEST_CHECK_MS, wakeAt } from '../../core/run/wake.ts';
import { OVERTAKEN, tryToChange } from '../../journal/change-versioned.ts';
import type { JournalDeps } from '../../journal/run-journal.ts';
import type { TaskQueue } from '../../ports/task-queue.ts';
import { type Pools, placementOf } from '../enqueue-soon.ts';

/** Tasks for one run fall into slots of this length, so that many events cause one dispatch. */
const SLOT_MS = 60_000;

/**
 * Moves `wakeAt` of a waiting run forward, so that the scan finds it as soon as a blocked one. Returns the run as read last;
 * undefined if it does not exist.
 *
 * @throws OutcomeUnknown
 */
export async function scanSoon({ store, clock }: JournalDeps, runId: string): Promise<RunState | undefined> {
  let read: RunState | undefined;
  await tryToChange(async () => {
    const loaded = await store.load(runId);
    read = loaded?.state;
    if (!loaded) return;
    const { state, metadata, snapshotVersion: seen } = loaded;
    const soon = clock.now() + LONGEST_CHECK_MS;
    if ((wakeAt(state, metadata) ?? Number.POSITIVE_INFINITY) <= soon) return;
    return (await store.touch({ runId, seen, wakeAt: soon })).kind === 'touched' ? undefined : OVERTAKEN;
  });
  return read;
}

/**
 * Enqueues a dispatch too, for rolling deployments: a process with the version may hold the run, may have read the mailbox
 * before this event was buffered, and may overwrite `wakeAt` when it suspends the run.
 *
 * @throws OutcomeUnknown
 */
export async function scanAndDispatchSoon(
  deps: JournalDeps & Pools & { readonly queue: TaskQueue },
  runId: string,
): Promise<void> {
  const state = await scanSoon(deps, runId);
  if (!state) return;
  const at = Math.ceil((deps.clock.now() + LONGEST_CHECK_MS) / SLOT_MS) * SLOT_MS;
  const name = taskName(runId, EVENT_KEPT, at);
  await deps.queue.enqueue({ runId, reason: 'continue', at, name, ...placementOf(deps, state) });
}

/** No event has this seq, so no other task has these names. */
const EVENT_KEPT = -1;
