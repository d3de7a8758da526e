/**
 * The store as used by a lease holder: repeatable calls are repeated until they are answered. One lost response must
 * not end a drive and make the run wait for its lease.
 *
 * Must not: repeat commits; their sender knows what a second sending means (J8).
 */
import type { RunStore } from '../ports/run-store.ts';
import { type SendDeps, sendUntilKnown } from './send-until-known.ts';

export function patientStore(store: RunStore, deps: SendDeps): RunStore {
  const again = <T>(call: () => Promise<T>) => sendUntilKnown(deps, call);
  return {
    start: (commit) => store.start(commit),
    commit: (commit) => store.commit(commit),
    touch: (touch) => store.touch(touch),
    load: (runId, ofTenant) => again(() => store.load(runId, ofTenant)),
    readEvents: (runId, afterSeq, limit) => again(() => store.readEvents(runId, afterSeq, limit)),
    readCheckpoints: (runId, seqs) => again(() => store.readCheckpoints(runId, seqs)),
    findCheckpoint: (runId, seq) => again(() => store.findCheckpoint(runId, seq)),
    dueRuns: (now, limit, after) => again(() => store.dueRuns(now, limit, after)),
    silentRuns: (window, limit) => again(() => store.silentRuns(window, limit)),
    listRuns: (filter, page) => again(() => store.listRuns(filter, page)),
    listEvents: (runId, page) => again(() => store.listEvents(runId, page)),
    listSteps: (runId, page) => again(() => store.listSteps(runId, page)),
    listCheckpoints: (runId, page) => again(() => store.listCheckpoints(runId, page)),
    listMemos: (runId, of, page) => again(() => store.listMemos(runId, of, page)),
    // Addressed by their content, or answered with what was recorded first: a second sending changes nothing.
    writePayload: (runId, text) => again(() => store.writePayload(runId, text)),
    readPayload: (runId, ref) => again(() => store.readPayload(runId, ref)),
    deletePayload: (runId, ref) => again(() => store.deletePayload(runId, ref)),
    createMemo: (runId, memo) => again(() => store.createMemo(runId, memo)),
    readMemos: (runId, step, revision) => again(() => store.readMemos(runId, step, revision)),
  };
}
