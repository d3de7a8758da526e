/**
 * Checks that every run store makes before it sends anything. Only a bug of the caller can violate them. They are shared, so that an
 * adapter for tests is as strict as the one in production.
 *
 * Must not: check anything that depends on the stored documents.
 */
import type { EffectWrite } from '../core/effects/effect.ts';
import { invalidInput } from '../core/errors.ts';
import type { RunEvent } from '../core/run/events.ts';
import { MAX_MEMO_NAME_BYTES, MAX_PAYLOAD_BYTES } from '../core/run/limits.ts';
import { assertFits } from '../core/run/values.ts';
import type { JournalCommit, SnapshotTouch, StartCommit } from './run-store.ts';
import type { Memo } from './value-store.ts';

/** The engine splits its commits at 300 writes. The difference is for the snapshot and for ledger rows. */
const MAX_STORE_WRITES = 320;
/**
 * The engine splits its commits at an estimated 4 MiB. This limit applies to the real size without the snapshot, which is
 * at most a document (1 MiB). Firestore refuses a request above 10 MiB.
 */
const MAX_STORE_BYTES = 6 * 1024 * 1024;
/** Size of a commit of about ten steps. */
const SURELY_SMALL_BYTES = 64 * 1024;

/** @throws Error if the first commit of a run is invalid, whatever is stored */
export function assertSoundStart({ state, events, checkpoints, records, supersedes }: StartCommit): void {
  assertRow(state.id, events);
  if (events[0]?.seq !== 1) throw new Error(`run ${state.id}: a start begins with event 1`);
  if (state.head !== events.length)
    throw new Error(`run ${state.id}: state and events of a start differ in their head`);
  if (new Set(records.map(({ record }) => record.key)).size !== records.length) {
    throw new Error(`run ${state.id}: two idempotency records of a start have one key`);
  }
  if (supersedes && supersedes.snapshot.head !== supersedes.event.seq) {
    throw new Error(`run ${state.id}: what it supersedes has another head than the event that says so`);
  }
  const others = 1 + records.length + (supersedes ? 2 : 0);
  assertLoad(state.id, { events, checkpoints, steps: [], effects: [], others });
}

/** Returns the size of the commit in bytes, or somewhat more. @throws Error if the commit is invalid, whatever is stored */
export function assertSoundCommit({
  runId,
  events,
  checkpoints,
  steps,
  effects = [],
  snapshot,
  metadata,
}: JournalCommit): number {
  assertRow(runId, events);
  if (snapshot && snapshot.head !== events.at(-1)?.seq) {
    throw new Error(`run ${runId}: the snapshot is not the state after the last event of its commit`);
  }
  if (metadata && !snapshot)
    throw new Error(`run ${runId}: volatile metadata is only written with a snapshot`);
  const segment = metadata?.logged?.segment;
  const others = (snapshot ? 1 : 0) + (segment ? 1 : 0);
  return assertLoad(runId, { events, checkpoints, steps, effects, others }) + sizeOf(segment);
}

/** @throws Error if the write would change nothing */
export function assertSoundTouch({ runId, snapshot, metadata, wakeAt, asksNothing }: SnapshotTouch): void {
  const showsLife = metadata?.heartbeat || metadata?.leaseExtendedTo !== undefined || metadata?.dutiesMet;
  if (!snapshot && !showsLife && !asksNothing && wakeAt === undefined)
    throw new Error(`run ${runId}: a touch that writes nothing`);
}

/** @throws CairnError PAYLOAD_TOO_LARGE */
export function assertSoundPayload(text: string): void {
  assertFits(text, 'the value', MAX_PAYLOAD_BYTES);
}

/** @throws CairnError INVALID_INPUT for a name that is not a valid document id, PAYLOAD_TOO_LARGE for the text */
export function assertSoundMemo({ step, name, text }: Memo): void {
  const what = `memo of step '${step}'`;
  const bytes = Buffer.byteLength(name);
  if (bytes < 1 || bytes > MAX_MEMO_NAME_BYTES || !name.isWellFormed()) {
    throw invalidInput(
      'name',
      `the name of a ${what} must be well-formed text of 1 to ${MAX_MEMO_NAME_BYTES} bytes; it has ${bytes}`,
      { stepId: step },
    );
  }
  assertFits(text, what);
}

function assertRow(runId: string, events: readonly RunEvent[]): void {
  const first = events[0];
  if (!first) throw new Error(`run ${runId}: a commit without events`);
  if (events.some((event, i) => event.seq !== first.seq + i)) {
    throw new Error(`run ${runId}: the events of a commit are not consecutive`);
  }
}

interface Load extends Pick<JournalCommit, 'events' | 'checkpoints' | 'steps'> {
  readonly effects: readonly EffectWrite[];
  /** Number of other writes in the commit. */
  readonly others: number;
}

function assertLoad(runId: string, { events, checkpoints, steps, effects, others }: Load): number {
  const writes = events.length + checkpoints.length + steps.length + effects.length + others;
  if (writes > MAX_STORE_WRITES)
    throw new Error(`run ${runId}: a commit of ${writes} writes; ${MAX_STORE_WRITES} are allowed`);
  const bytes = sizeOf(events) + sizeOf(checkpoints) + sizeOf(steps) + sizeOf(effects);
  if (bytes > MAX_STORE_BYTES)
    throw new Error(`run ${runId}: a commit of ${bytes} bytes; ${MAX_STORE_BYTES} are allowed`);
  return bytes;
}

/**
 * Bytes of the names and values, with eight for each value that is not text, as Firestore counts a document. Small values are
 * only estimated, because every step is measured here.
 */
function sizeOf(value: unknown): number {
  const most = total(value, maxBytesOf);
  return most <= SURELY_SMALL_BYTES ? most : total(value, Buffer.byteLength);
}

/** UTF-8 has at most three bytes for each unit of UTF-16. */
const maxBytesOf = (text: string) => 3 * text.length;

function total(value: unknown, bytesOf: (text: string) => number): number {
  if (typeof value === 'string') return bytesOf(value);
  if (typeof value !== 'object' || value === null) return 8;
  let bytes = 0;
  if (Array.isArray(value)) for (const member of value) bytes += total(member, bytesOf);
  else
    for (const name of Object.keys(value)) {
      const member: unknown = value[name as keyof object];
      if (member !== undefined) bytes += name.length + total(member, bytesOf);
    }
  return bytes;
}
