/**
 * Watches the stored documents over a performance: checks invariants after every write, and that nothing is left at the end.
 *
 * Must not: change anything.
 */
import type { MemoryDatabase } from '../../packages/cairn/src/memory/memory-database.ts';
import type { SnapshotTouch } from '../../packages/cairn/src/ports/run-store.ts';
import type { InterceptedCall } from '../support/intercept.ts';
import { assertRows } from '../support/ledger-rows.ts';
import type { MemoryEventBus } from '../support/memory/memory-event-bus.ts';
import { assertStored } from '../support/soundness.ts';
import type { Process } from './process.ts';

export class Watch {
  /** The first broken invariant. */
  failure: Error | undefined;
  readonly #db: MemoryDatabase;
  readonly #bus: MemoryEventBus | undefined;
  /** Last `wakeAt` of each run set by the scan, or by a drive that could not start. */
  readonly #movedTo = new Map<string, number>();

  constructor(db: MemoryDatabase, bus?: MemoryEventBus) {
    this.#db = db;
    this.#bus = bus;
  }

  /** Called for every call that was applied. */
  see(label: string, { args }: InterceptedCall): void {
    if (label !== 'store.commit' && label !== 'store.touch') return;
    const { runId, wakeAt } = args[0] as SnapshotTouch;
    // A touch under an old version of the snapshot changes nothing.
    const isApplied = wakeAt !== undefined && this.#db.runs.get(runId)?.wakeAt === wakeAt;
    if (isApplied) this.#movedTo.set(runId, wakeAt);
    try {
      assertStored(this.#db, runId, this.#movedTo.get(runId));
    } catch (error) {
      this.failure ??= error as Error;
    }
  }

  /** @throws Error naming leftovers of the ended runs, or a broken invariant of one */
  assertNothingLeft(processes: readonly Process[]): void {
    for (const { timers } of processes) if (timers > 0) throw new Error(`${timers} timers are left`);
    for (const [runId, { snapshot, events }] of this.#db.runs) {
      if (this.#bus) assertPublished(this.#bus, runId, events.length);
      assertStored(this.#db, runId, this.#movedTo.get(runId));
      if (snapshot.lease || snapshot.waits.length > 0)
        throw new Error(`a lease or a wait is left of ${runId}`);
    }
    assertRows(this.#db);
    for (const { mailbox } of this.#db.mailboxes.values()) {
      const { event, waiting, buffered } = mailbox;
      if (waiting.length > 0) throw new Error(`${waiting.length} waits are left at the mailbox '${event}'`);
      const taken = buffered.filter(({ takenBy, passing }) => takenBy ?? passing);
      if (taken.length > 0) throw new Error(`${taken.length} events '${event}' are taken and not taken in`);
    }
  }
}

/** Every event must arrive at least once, and its first arrival must not precede that of an earlier event. */
export function assertPublished(bus: MemoryEventBus, runId: string, head: number): void {
  let arrived = 0;
  for (const { attributes } of bus.messages(runId)) {
    const seq = Number(attributes.seq);
    if (seq > arrived + 1) throw new Error(`event ${seq} of ${runId} was published before ${arrived + 1}`);
    arrived = Math.max(arrived, seq);
  }
  if (arrived < head) throw new Error(`events ${arrived + 1} to ${head} of ${runId} were never published`);
}
