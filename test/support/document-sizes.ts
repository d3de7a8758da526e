/** Sizes of documents that the engine writes, by the real codecs and Firestore's rule. */
import { FieldValue, Timestamp } from '@google-cloud/firestore';
import type { Mailbox } from '../../packages/cairn/src/core/mailbox/mailbox.ts';
import type { RunEvent } from '../../packages/cairn/src/core/run/events.ts';
import type { Checkpoint, StepRecord } from '../../packages/cairn/src/core/run/records.ts';
import type { RunState, VolatileMetadata } from '../../packages/cairn/src/core/run/state.ts';
import type { JournalCommit, RunStore, SnapshotTouch } from '../../packages/cairn/src/ports/run-store.ts';
import { mailboxCodec } from '../../packages/cairn/src/store/codec/documents.ts';
import { checkpointCodec, eventCodec, stepCodec } from '../../packages/cairn/src/store/codec/journal.ts';
import type { Members } from '../../packages/cairn/src/store/codec/kinds.ts';
import { encodeNewSnapshot } from '../../packages/cairn/src/store/codec/snapshot.ts';
import { pageCodec } from '../../packages/cairn/src/store/codec/values.ts';
import { spill } from '../../packages/cairn/src/store/pages/spill.ts';
import { documentSize } from '../../packages/local-firestore/src/model/document-size.ts';
import type { Fields, Value } from '../../packages/local-firestore/src/model/value.ts';
import { intercept } from './intercept.ts';

/** Limit of a document, name included (firebase.google.com/docs/firestore/quotas). */
export const MAX_BYTES = 1_048_576;

/** Longer than any path of the engine. */
const PATH = ['gwi_runs', 'r'.repeat(40), 'checkpoints', 'c'.repeat(400)];

export function sizeOfEvent(event: RunEvent): number {
  return sizeOf(eventCodec.encode(event));
}

export function sizeOfCheckpoint(checkpoint: Checkpoint): number {
  return sizeOf(checkpointCodec.encode(checkpoint));
}

export function sizeOfStep(step: StepRecord): number {
  return sizeOf(stepCodec.encode(step));
}

export function sizeOfMailbox(mailbox: Mailbox): number {
  return sizeOf(mailboxCodec.encode(mailbox));
}

/** Bytes of the run document and of each of its pages. */
export function sizesOfSnapshot(
  state: RunState,
  metadata: VolatileMetadata = {},
): { run: number; pages: number[] } {
  const members = encodeNewSnapshot(state, metadata);
  const spilled = spill(members, state);
  return {
    run: sizeOf({ ...members, ...spilled?.members }),
    pages: [...(spilled?.pages.values() ?? [])].map((text) => sizeOf(pageCodec.encode({ text }))),
  };
}

/** Statistics of the writes so far. */
export interface Written {
  /** The largest document. */
  largest: number;
  /** Largest number of pages of a run document. */
  pages: number;
  snapshots: number;
}

/** Wraps a store to refuse documents that are too large, like Firestore. */
export function asFirestoreTakes(store: RunStore): { readonly store: RunStore; readonly written: Written } {
  const written: Written = { largest: 0, pages: 0, snapshots: 0 };
  const take = (sizes: readonly number[]) => {
    for (const size of sizes) {
      written.largest = Math.max(written.largest, size);
      if (size > MAX_BYTES) throw new Error(`INVALID_ARGUMENT: a document of ${size} bytes`);
    }
  };
  const takeSnapshot = (state: RunState | undefined) => {
    if (!state) return;
    const { run, pages } = sizesOfSnapshot(state);
    written.snapshots += 1;
    written.pages = Math.max(written.pages, pages.length);
    take([run, ...pages]);
  };
  const checked = intercept(store, ({ method, args }, proceed) => {
    if (method === 'commit') {
      const { events, checkpoints, steps, snapshot } = args[0] as JournalCommit;
      take(events.map(sizeOfEvent));
      take(checkpoints.map(sizeOfCheckpoint));
      take(steps.map(sizeOfStep));
      takeSnapshot(snapshot);
    }
    if (method === 'touch') takeSnapshot((args[0] as SnapshotTouch).snapshot);
    return proceed();
  });
  return { store: checked, written };
}

function sizeOf(members: Members): number {
  return documentSize(PATH, fieldsOf(members));
}

function fieldsOf(members: object): Fields {
  return new Map(Object.entries(members).map(([name, member]) => [name, storedValue(member)]));
}

function storedValue(member: unknown): Value {
  if (member === null) return { kind: 'null' };
  if (typeof member === 'string') return { kind: 'string', value: member };
  if (typeof member === 'boolean') return { kind: 'boolean', value: member };
  if (typeof member === 'number') return { kind: 'double', value: member };
  if (member instanceof Timestamp || member instanceof FieldValue)
    return { kind: 'timestamp', seconds: 0, nanos: 0 };
  if (Array.isArray(member)) return { kind: 'array', values: member.map(storedValue) };
  if (typeof member === 'object') return { kind: 'map', fields: fieldsOf(member) };
  throw new Error(`a ${typeof member} in a document`);
}
