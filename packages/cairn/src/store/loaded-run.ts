/** Builds a run from its document alone, as returned by a read or a listener. */
import type { DocumentSnapshot } from '@google-cloud/firestore';
import type { LoadedRun } from '../ports/run-store.ts';
import type { Members } from './codec/kinds.ts';
import { decodeSnapshot } from './codec/snapshot.ts';
import { decodeMetadata } from './codec/volatile-metadata.ts';
import { versionOf } from './version.ts';

/** @param members of the document, with its paged entries. @throws UndecodableDocument */
export function loadedFrom({ id, readTime, updateTime }: DocumentSnapshot, members: Members): LoadedRun {
  if (!updateTime) throw new Error(`run ${id} does not exist`);
  const what = `run ${id}`;
  const state = decodeSnapshot(members, what);
  return {
    state,
    metadata: decodeMetadata(members, what),
    snapshotHead: state.head,
    snapshotVersion: versionOf(updateTime),
    readAt: readTime.toMillis(),
    reads: 1,
    tailWrites: 0,
  };
}
