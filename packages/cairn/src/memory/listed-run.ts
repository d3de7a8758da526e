/** A run of a memory store as lists show it. */
import { waitsFor } from '../core/run/now/waits-for.ts';
import { listedMetadata, listedState } from '../core/search/listed.ts';
import { listedWaits } from '../core/search/listing.ts';
import { stepCounts } from '../core/search/step-counts.ts';
import type { ListedRun } from '../ports/run-store.ts';
import type { RunDocuments } from './memory-database.ts';

export function listedRun({ snapshot, metadata, wakeAt }: RunDocuments): ListedRun {
  return {
    state: listedState(snapshot),
    metadata: listedMetadata(metadata),
    stepCounts: stepCounts(snapshot.steps),
    waits: listedWaits(snapshot.waits),
    waitsFor: waitsFor(snapshot),
    wakeAt,
  };
}
