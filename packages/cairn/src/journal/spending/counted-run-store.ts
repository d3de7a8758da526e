/**
 * A run store that counts the billed operations of its calls for one run, and adds them to every snapshot written of
 * that run. Reads of other runs on the way are charged to this one.
 *
 * Must not: make a call, or hold one back.
 */
import type { Spent } from '../../core/cost/cost.ts';
import type {
  CommitResult,
  JournalCommit,
  RunStore,
  SoftUpdate,
  StartCommit,
} from '../../ports/run-store.ts';
import type { Spending } from './spending.ts';

/** A query that finds nothing is billed as one read. */
export function readsOf(found: number): Spent {
  return { reads: Math.max(1, found) };
}

export function countedRunStore(store: RunStore, spending: Spending): RunStore {
  const counted = async <T>(call: Promise<T>, spent: (result: T) => Spent): Promise<T> => {
    const result = await call;
    spending.add(spent(result));
    return result;
  };
  // One more is read than is shown, to know whether there are more.
  const page = ({ items, next }: { items: readonly unknown[]; next?: string | undefined }) =>
    readsOf(items.length + (next === undefined ? 0 : 1));
  let seen: { readonly runId: string; readonly head: number; readonly tailWrites: number } | undefined;
  /** The process that finds a dead worker reports that worker's spending. */
  const leftBehind = ({ runId, events: [first] }: JournalCommit): number => {
    if (first?.type !== 'orphan_detected' || seen?.runId !== runId) return 0;
    return seen.head === first.seq - 1 ? seen.tailWrites : 0;
  };
  const load: RunStore['load'] = async (runId, ofTenant) => {
    const loaded = await store.load(runId, ofTenant);
    spending.add({ reads: loaded?.reads ?? 1 });
    if (loaded) seen = { runId, head: loaded.state.head, tailWrites: loaded.tailWrites };
    return loaded;
  };
  const commit = (wanted: JournalCommit): Promise<CommitResult> => {
    const { snapshot, soft } = wanted;
    const own = { writes: writesOf(wanted) + leftBehind(wanted) };
    if (!snapshot) return counted(store.commit(wanted), (result) => (isApplied(result) ? own : {}));
    return spending.carry({
      key: `commit ${wanted.runId} ${wanted.events[0]?.id}`,
      own,
      send: (cost) => store.commit({ ...wanted, soft: { heartbeat: false, ...soft, cost } }),
      isApplied,
    });
  };
  const start = (wanted: StartCommit): Promise<CommitResult> => {
    const { state, events, checkpoints, records, supersedes, soft } = wanted;
    return spending.carry({
      key: `start ${state.id}`,
      own: { writes: 1 + events.length + checkpoints.length + records.length + (supersedes ? 2 : 0) },
      send: (cost) => store.start({ ...wanted, soft: { ...soft, cost } }),
      isApplied,
    });
  };
  return {
    start,
    commit,
    touch: (wanted) =>
      spending.carry({
        key: `touch ${wanted.runId} ${wanted.seen}`,
        own: { writes: 1 + segmentsOf(wanted.soft) },
        send: (cost) => store.touch({ ...wanted, soft: { heartbeat: false, ...wanted.soft, cost } }),
        isApplied: ({ kind }) => kind === 'touched',
      }),
    load,
    readEvents: (runId, afterSeq, limit) =>
      counted(store.readEvents(runId, afterSeq, limit), ({ length }) => readsOf(length)),
    readCheckpoints: (runId, seqs) =>
      counted(store.readCheckpoints(runId, seqs), () => ({ reads: seqs.length })),
    findCheckpoint: (runId, seq) => counted(store.findCheckpoint(runId, seq), () => ({ reads: 1 })),
    dueRuns: (now, limit, after) =>
      counted(store.dueRuns(now, limit, after), ({ length }) => readsOf(length)),
    silentRuns: (window, limit) => counted(store.silentRuns(window, limit), ({ length }) => readsOf(length)),
    listRuns: (filter, request) => counted(store.listRuns(filter, request), page),
    listEvents: (runId, request) => counted(store.listEvents(runId, request), page),
    listSteps: (runId, request) => counted(store.listSteps(runId, request), page),
    listCheckpoints: (runId, request) => counted(store.listCheckpoints(runId, request), page),
    listMemos: (runId, of, request) => counted(store.listMemos(runId, of, request), page),
    writePayload: (runId, text) =>
      counted(store.writePayload(runId, text), ({ chunks }) => ({ writes: chunks })),
    readPayload: (runId, ref) => counted(store.readPayload(runId, ref), () => ({ reads: ref.chunks })),
    deletePayload: (runId, ref) => counted(store.deletePayload(runId, ref), () => ({ deletes: ref.chunks })),
    // Whoever comes second reads what is there; with the same text it cannot be told from the first.
    createMemo: (runId, memo) =>
      counted(store.createMemo(runId, memo), (text) => (text === memo.text ? { writes: 1 } : { reads: 1 })),
    readMemos: (runId, step, revision) =>
      counted(store.readMemos(runId, step, revision), ({ size }) => readsOf(size)),
  };
}

function writesOf({ events, checkpoints, steps, effects = [], snapshot, soft }: JournalCommit): number {
  const others = (snapshot ? 1 : 0) + segmentsOf(soft);
  return events.length + checkpoints.length + steps.length + effects.length + others;
}

function segmentsOf(soft: SoftUpdate | undefined): number {
  return soft?.logged?.segment ? 1 : 0;
}

function isApplied({ kind }: CommitResult): boolean {
  return kind === 'committed';
}
