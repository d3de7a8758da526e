/** Appends to the journal of a run on the bench as the engine would, whether the engine would do so or not. */
import { seqId } from '../../../packages/cairn/src/core/encoding/ids.ts';
import { seal } from '../../../packages/cairn/src/core/run/chain.ts';
import type { EventDraft } from '../../../packages/cairn/src/core/run/events.ts';
import { fold, reduce } from '../../../packages/cairn/src/core/run/reduce/index.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import { eventCodec } from '../../../packages/cairn/src/store/codec/journal.ts';
import { encodeNewSnapshot } from '../../../packages/cairn/src/store/codec/snapshot.ts';
import type { Bench } from './bench.ts';

/** The events, and nothing else. */
export function appendEvents({ shelf, runId }: Bench, drafts: readonly EventDraft[]): void {
  let chain = fold(runId, shelf.journal());
  for (const draft of drafts) {
    const event = seal(draft, { chain, id: `e${chain.head + 1}`, now: chain.updatedAt });
    shelf.put('events', seqId(event.seq), eventCodec.encode(event));
    // An invalid event has no state: only head and hash advance.
    try {
      chain = reduce(chain, event);
    } catch {
      chain = { ...chain, head: event.seq, headHash: event.hash };
    }
  }
}

/** The events, and the snapshot after them. */
export function append(bench: Bench, drafts: readonly EventDraft[]): void {
  appendEvents(bench, drafts);
  putSnapshot(bench, fold(bench.runId, bench.shelf.journal()));
}

/** The run document, made from this state; what is not folded is as before. */
export function putSnapshot({ shelf, runId }: Bench, state: RunState): void {
  const { soft } = shelf.members('runs', runId);
  shelf.put('runs', runId, { ...encodeNewSnapshot(state), ...(soft === undefined ? {} : { soft }) });
}

/** The state after so many events. */
export function stateAt({ shelf, runId }: Bench, seq: number): RunState {
  return fold(runId, shelf.journal().slice(0, seq));
}
