/** A run of a memory store as lists show it. */
import { waitsFor } from '../core/run/now/waits-for.ts';
import { listedSoft, listedState } from '../core/search/listed.ts';
import { listedWaits } from '../core/search/listing.ts';
import { stepCounts } from '../core/search/step-counts.ts';
import type { ListedRun } from '../ports/run-store.ts';
import type { RunDocuments } from './memory-database.ts';

export function listedRun({ snapshot, soft, wakeAt }: RunDocuments): ListedRun {
  return {
    state: listedState(snapshot),
    soft: listedSoft(soft),
    stepCounts: stepCounts(snapshot.steps),
    waits: listedWaits(snapshot.waits),
    waitsFor: waitsFor(snapshot),
    wakeAt,
  };
}
