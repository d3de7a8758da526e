/**
 * The store as used by a lease holder: repeatable calls are repeated until they are answered. One lost response must
 * not end a dispatch and make the run wait for its lease.
 *
 * Must not: repeat commits; their sender knows what a second sending means (J8).
 */
import type { RunStore } from '../ports/run-store.ts';
import { wrapCalls } from '../ports/wrap-calls.ts';
import { type SendDeps, sendUntilKnown } from './send-until-known.ts';

/**
 * Only these writes must not be repeated. The others are addressed by content, or answered with the first record, so that a
 * repetition changes nothing.
 */
const COMMITS: ReadonlySet<keyof RunStore> = new Set<keyof RunStore>(['start', 'commit', 'touch']);

export function patientStore(store: RunStore, deps: SendDeps): RunStore {
  return wrapCalls(store, (call, name) =>
    COMMITS.has(name) ? call(store) : sendUntilKnown(deps, () => call(store)),
  );
}
