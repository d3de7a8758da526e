/**
 * Publishes the unpublished events of a run when a dispatch begins or releases it, and records the watermark: one write without an
 * event (J9), after which the run may rest for any time (J10). Events that the bus refuses are retried after as long as they
 * have been pending, so that hours of downtime cost a run ten dispatches, and given up after a day: the journal keeps everything,
 * and `GET …/events` shows it.
 */
import { taskName } from '../../core/encoding/task-name.ts';
import { hasUnpublishedEvents, isOver, type RunState } from '../../core/run/state.ts';
import { READY_GRACE_MS, wakeAt } from '../../core/run/wake.ts';
import { runSpan, traceparentOf } from '../../core/trace.ts';
import type { LoadedRun, MetadataUpdate, Version } from '../../ports/run-store.ts';
import type { EventBus } from '../../ports/runs/event-bus.ts';
import type { EngineDeps } from '../deps.ts';
import { poolAndTenant } from '../enqueue-soon.ts';
import { RunPublisher } from './run-publisher.ts';

/** Delay before the bus is called again for the first time. */
const FIRST_RETRY_MS = 60_000;
/** Time after the last event of the run until publishing is given up. Subscribers have read the journal by then. */
const GIVE_UP_MS = 24 * 3_600_000;

/** Stands in for the bus if a run began with one and ends without it. */
const NOBODY_LISTENS: EventBus = { publish: async () => {} };

/** Events that may not have been published. */
export interface UnpublishedEvents {
  readonly publisher: RunPublisher;
  /** Version of the snapshot that belongs to the state; undefined: the store did not report it. */
  readonly seen: Version | undefined;
  /** True: the run is over and has completion duties left, so it stays scanned. */
  readonly hasDuties?: boolean;
}

/**
 * The publisher for the events that others left and that a dispatch of this run will append; undefined if events are not
 * published.
 */
export function publisherFor(deps: EngineDeps, { state, metadata }: LoadedRun): RunPublisher | undefined {
  const { bus, store, clock, log, tracer } = deps;
  const publishedSeq = metadata.publishedSeq ?? (bus ? 0 : undefined);
  if (publishedSeq === undefined) return undefined;
  return new RunPublisher({
    bus: bus ?? NOBODY_LISTENS,
    store,
    clock,
    log,
    run: state,
    traceparent: tracer && traceparentOf(tracer.decided(runSpan(state))),
    firstEventId: metadata.firstEventId,
    publishedSeq,
    head: state.head,
  });
}

/** Unpublished events of a run without a dispatch; undefined: none. */
export function unpublishedOf(deps: EngineDeps, loaded: LoadedRun): UnpublishedEvents | undefined {
  const publisher = hasUnpublishedEvents(loaded.state, loaded.metadata)
    ? publisherFor(deps, loaded)
    : undefined;
  return publisher && { publisher, seen: loaded.snapshotVersion };
}

/**
 * Call when no worker holds the lease and all other completion duties were tried. Does nothing if the run has changed since.
 *
 * @throws OutcomeUnknown if the record is uncertain: the events may be published again
 */
export async function settleEvents(
  deps: EngineDeps,
  state: RunState,
  { publisher, seen: known, hasDuties = false }: UnpublishedEvents,
): Promise<void> {
  const { store, queue } = deps;
  const { id: runId, head } = state;
  const published = await publisher.flush();
  publisher.end();
  const seen = known ?? (await versionOf(deps, state));
  if (seen === undefined) return;
  const retryAt = published ? undefined : nextTry(deps, state, publisher.publishedSeq);
  const metadata: MetadataUpdate = {
    heartbeat: false,
    publishedSeq: retryAt === undefined ? head : publisher.publishedSeq,
    publishDueAt: retryAt === undefined ? undefined : retryAt + READY_GRACE_MS,
    dutiesMet: (isOver(state) && !hasDuties) || undefined,
  };
  // The interval of duties that wait for a deployment is counted from now, not from the end of the run.
  const dueAt = hasDuties
    ? Math.max(wakeAt(state, metadata) ?? 0, deps.clock.now() + READY_GRACE_MS)
    : wakeAt(state, metadata);
  const { kind } = await store.touch({ runId, seen, metadata, wakeAt: dueAt });
  // A stale touch is ignored: another process has changed the run, and continues from the stored watermark.
  if (kind === 'stale' || retryAt === undefined) return;
  // A task is enqueued, because during an outage of the bus there are more such runs than the scan can check.
  const name = taskName(runId, head, retryAt);
  await queue.enqueue({ runId, reason: 'continue', at: retryAt, name, ...poolAndTenant(deps, state) });
}

/** Time of the next attempt to publish, epoch ms; undefined: none. */
function nextTry({ clock, log }: EngineDeps, state: RunState, publishedSeq: number): number | undefined {
  const { id: runId, tenantId, head, updatedAt } = state;
  const owedMs = clock.now() - updatedAt;
  if (owedMs < GIVE_UP_MS) return clock.now() + Math.max(FIRST_RETRY_MS, owedMs);
  log.error('run_events_given_up', { runId, tenantId, fromSeq: publishedSeq + 1, toSeq: head });
  return undefined;
}

async function versionOf({ store }: EngineDeps, { id, head }: RunState): Promise<Version | undefined> {
  const loaded = await store.load(id);
  return loaded?.state.head === head ? loaded.snapshotVersion : undefined;
}
