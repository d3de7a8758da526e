/**
 * Reads a journal from its beginning, one document at a time, and keeps what a check needs: the first problem of the journal, the
 * folded state, and the implied documents. Memory grows with the steps, not with the events, so that the longest run can be
 * checked.
 *
 * Must not: throw for any input.
 */

import { encodeKey } from '../encoding/idempotency-keys.ts';
import { seqId } from '../encoding/ids.ts';
import { type ChainMisfit, chainMisfit, emptyChain } from '../run/chain.ts';
import type { EventType, RunEvent, RunIdentity } from '../run/events.ts';
import { type StepRecord, stepRecordOf } from '../run/records.ts';
import { initialState, reduce } from '../run/reduce/index.ts';
import { isOver, type RunState } from '../run/state.ts';
import { mustWriteSnapshot } from '../run/wake.ts';
import { messageOf } from '../thrown.ts';
import { type ExpectedEffect, effectAfter } from './effects.ts';
import { type ExpectedCheckpoint, expectedCheckpoint } from './expected.ts';
import type { FoundEvent } from './found.ts';
import { type ConsistencyProblem, type ProblemCode, unhealable } from './problems.ts';

/** Events that may follow the end of a run (J6). */
const AFTER_THE_END: ReadonlySet<EventType> = new Set<EventType>(['run_superseded', 'snapshot_repaired']);

const CODES: { readonly [K in ChainMisfit['kind']]: ProblemCode } = {
  gap: 'JOURNAL_FORK',
  fork: 'JOURNAL_FORK',
  content: 'JOURNAL_HASH_BREAK',
};

export interface JournalContent {
  /** The first problem of the journal. Later events were not checked, and `state` is undefined. */
  readonly broken: ConsistencyProblem | undefined;
  readonly state: RunState | undefined;
  /** Identity from the first event, if that is sound. */
  readonly identity: RunIdentity | undefined;
  /** The state after the event from which the snapshot was made; undefined if this journal has no such event. */
  readonly atSnapshot: RunState | undefined;
  /** True if the snapshot may be behind by recent events (J4). */
  readonly mayLag: boolean;
  /** True if the end of the journal is certain: documents newer than it were never part of the run. */
  readonly isEndCertain: boolean;
  /** Expected documents, by their ids. */
  readonly checkpoints: ReadonlyMap<string, ExpectedCheckpoint>;
  readonly steps: ReadonlyMap<string, StepRecord>;
  readonly effects: ReadonlyMap<string, ExpectedEffect>;
  /** Sequence number of the event with the decision to halt the run. */
  readonly haltedAt: number | undefined;
}

interface ReadingOf {
  readonly runId: string;
  /** `headHash` of the snapshot, as it was found. */
  readonly snapshotHash: string | undefined;
}

export class JournalReading {
  readonly #of: ReadingOf;
  readonly #checkpoints = new Map<string, ExpectedCheckpoint>();
  readonly #steps = new Map<string, StepRecord>();
  readonly #effects = new Map<string, ExpectedEffect>();
  #broken: ConsistencyProblem | undefined;
  #state: RunState | undefined;
  #identity: RunIdentity | undefined;
  #atSnapshot: RunState | undefined;
  #haltedAt: number | undefined;

  constructor(of: ReadingOf) {
    this.#of = of;
  }

  /** The next document in the order of their ids. */
  take(found: FoundEvent): void {
    if (this.#broken) return;
    const subject = `events/${found.id}`;
    try {
      this.#broken = this.#problemWith(found, subject);
    } catch (error) {
      this.#broken = unhealable('JOURNAL_IMPOSSIBLE', subject, { reason: messageOf(error) });
    }
  }

  /** Returns the content, after the last document. */
  end(): JournalContent {
    const state = this.#broken ? undefined : this.#state;
    return {
      broken: this.#broken,
      state,
      identity: this.#identity,
      atSnapshot: this.#atSnapshot,
      mayLag:
        this.#atSnapshot === undefined || state === undefined || !mustWriteSnapshot(this.#atSnapshot, state),
      isEndCertain: state !== undefined && isEndCertain(state, this.#atSnapshot),
      checkpoints: this.#checkpoints,
      steps: this.#steps,
      effects: this.#effects,
      haltedAt: this.#haltedAt,
    };
  }

  #problemWith(found: FoundEvent, subject: string): ConsistencyProblem | undefined {
    const { head, headHash } = this.#state ?? emptyChain(this.#of.runId);
    if (found.id > seqId(head + 1)) {
      return unhealable('JOURNAL_GAP', `events/${seqId(head + 1)}`, { missing: head + 1, next: found.id });
    }
    if (found.kind === 'newer') {
      return unhealable('NEWER_SCHEMA', subject, { schemaVersion: found.schemaVersion });
    }
    if (found.kind === 'unreadable') {
      return unhealable('JOURNAL_UNREADABLE', subject, { reason: found.reason });
    }
    const wrong = misfitOf({ head, headHash }, found.value);
    if (wrong) return unhealable(CODES[wrong.kind], subject, { seq: head + 1, reason: wrong.problem });
    this.#fold(found.value);
    return undefined;
  }

  /** @throws Error for an event that cannot follow those before */
  #fold(event: RunEvent): void {
    const before = this.#state;
    if (before && isOver(before) && !AFTER_THE_END.has(event.type)) {
      throw new Error(`'${event.type}' after the end of the run`);
    }
    const after = this.#stateAfter(before, event);
    const checkpoint = expectedCheckpoint(event, before);
    if (checkpoint) this.#checkpoints.set(seqId(event.seq), checkpoint);
    const step = stepRecordOf(event, after.planVersion);
    if (step) this.#steps.set(encodeKey(step.id), step);
    if (event.type === 'effect_attempted' || event.type === 'effect_settled') {
      const { effectId } = event.data;
      this.#effects.set(effectId, effectAfter(this.#effects.get(effectId), event));
    }
    if (event.type === 'wait_resolved' && event.data.decision === 'halt') this.#haltedAt = event.seq;
    if (event.hash === this.#of.snapshotHash) this.#atSnapshot = after;
    this.#state = after;
  }

  #stateAfter(before: RunState | undefined, event: RunEvent): RunState {
    if (before) return reduce(before, event);
    if (event.type !== 'run_created') throw new Error(`the journal begins with '${event.type}'`);
    this.#identity = event.data;
    return initialState(this.#of.runId, event);
  }
}

/** After the end of a run nothing follows that has documents (J6), and the snapshot of a run without a lease is exact (J4). */
function isEndCertain(state: RunState, atSnapshot: RunState | undefined): boolean {
  return isOver(state) || (atSnapshot?.head === state.head && state.lease === undefined);
}

/** An event that cannot be hashed has changed since it was sealed. */
function misfitOf(chain: Parameters<typeof chainMisfit>[0], event: RunEvent): ChainMisfit | undefined {
  try {
    return chainMisfit(chain, event);
  } catch (error) {
    return { kind: 'content', problem: messageOf(error) };
  }
}
