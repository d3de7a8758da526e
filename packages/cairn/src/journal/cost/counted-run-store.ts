/**
 * A run store that counts the billed operations of its calls for one run, and adds them to every snapshot written of that run.
 * Reads of other runs are charged to this one.
 *
 * Must not: make a call, or delay one.
 */
import type { CommitResult, JournalCommit, MetadataUpdate, RunStore } from '../../ports/run-store.ts';
import { type AroundEach, wrapCalls } from '../../ports/wrap-calls.ts';
import { billedCalls, pageReads, readsOf } from './billed.ts';
import type { CostCounter } from './cost-counter.ts';

type CarryingMethod = 'start' | 'commit' | 'touch' | 'load';

export function countedRunStore(store: RunStore, counter: CostCounter): RunStore {
  return wrapCalls(store, {
    ...carryingCalls(counter),
    ...billedCalls<Omit<RunStore, CarryingMethod>>(counter, {
      readEvents: ({ length }) => readsOf(length),
      readCheckpoints: (_, _runId, seqs) => ({ reads: seqs.length }),
      findCheckpoint: () => ({ reads: 1 }),
      dueRuns: ({ length }) => readsOf(length),
      silentRuns: ({ length }) => readsOf(length),
      listRuns: pageReads,
      listEvents: pageReads,
      listSteps: pageReads,
      listCheckpoints: pageReads,
      listMemos: pageReads,
      writePayload: ({ chunks }) => ({ writes: chunks }),
      readPayload: (_, _runId, { chunks }) => ({ reads: chunks }),
      deletePayload: (_, _runId, { chunks }) => ({ deletes: chunks }),
      // A second writer reads the existing memo. If both texts are equal, the two writers cannot be distinguished.
      createMemo: (text, _runId, memo) => (text === memo.text ? { writes: 1 } : { reads: 1 }),
      readMemos: ({ size }) => readsOf(size),
    }),
  });
}

/** Writes that carry the cost, and the read that shows the cost of a dead worker. */
function carryingCalls(counter: CostCounter): Pick<AroundEach<RunStore>, CarryingMethod> {
  let seen: { readonly runId: string; readonly head: number; readonly tailWrites: number } | undefined;
  /** The process that finds a dead worker reports that worker's cost. */
  const writesOfDeadWorker = ({ runId, events: [first] }: JournalCommit): number => {
    if (first?.type !== 'orphan_detected' || seen?.runId !== runId) return 0;
    return seen.head === first.seq - 1 ? seen.tailWrites : 0;
  };
  return {
    async load(call, runId, ofTenant) {
      const loaded = await call(runId, ofTenant);
      counter.add({ reads: loaded?.reads ?? 1 });
      if (loaded) seen = { runId, head: loaded.state.head, tailWrites: loaded.tailWrites };
      return loaded;
    },
    async commit(call, wanted) {
      const { snapshot, metadata } = wanted;
      const own = { writes: writesOf(wanted) + writesOfDeadWorker(wanted) };
      if (snapshot) {
        return counter.carry({
          key: `commit ${wanted.runId} ${wanted.events[0]?.id}`,
          own,
          send: (cost) => call({ ...wanted, metadata: { heartbeat: false, ...metadata, cost } }),
          isApplied,
        });
      }
      const result = await call(wanted);
      if (isApplied(result)) counter.add(own);
      return result;
    },
    start(call, wanted) {
      const { state, events, checkpoints, records, supersedes, metadata } = wanted;
      return counter.carry({
        key: `start ${state.id}`,
        own: { writes: 1 + events.length + checkpoints.length + records.length + (supersedes ? 2 : 0) },
        send: (cost) => call({ ...wanted, metadata: { ...metadata, cost } }),
        isApplied,
      });
    },
    touch: (call, wanted) =>
      counter.carry({
        key: `touch ${wanted.runId} ${wanted.seen}`,
        own: { writes: 1 + segmentsOf(wanted.metadata) },
        send: (cost) => call({ ...wanted, metadata: { heartbeat: false, ...wanted.metadata, cost } }),
        isApplied: ({ kind }) => kind === 'touched',
      }),
  };
}

function writesOf({ events, checkpoints, steps, effects = [], snapshot, metadata }: JournalCommit): number {
  const others = (snapshot ? 1 : 0) + segmentsOf(metadata);
  return events.length + checkpoints.length + steps.length + effects.length + others;
}

function segmentsOf(metadata: MetadataUpdate | undefined): number {
  return metadata?.logged?.segment ? 1 : 0;
}

function isApplied({ kind }: CommitResult): boolean {
  return kind === 'committed';
}
