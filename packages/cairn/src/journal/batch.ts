/**
 * Combines the appends of several callers into one commit (group commit). Pure except for the given ids: every decision
 * sees the state after the earlier ones in the batch. Knows the limits of a commit, not how it is sent.
 */

import type { EffectWrite } from '../core/effects/effect.ts';
import { canonicalTextOf } from '../core/encoding/json.ts';
import { assertEventFits, boundedDraft } from '../core/run/bounded.ts';
import { seal } from '../core/run/chain.ts';
import type { EventDraft, RunEvent, Writer } from '../core/run/events.ts';
import { type Checkpoint, checkpointOf, type StepRecord, stepRecordOf } from '../core/run/records.ts';
import { reduce } from '../core/run/reduce/index.ts';
import type { RunState } from '../core/run/state.ts';
import type { RunStatus } from '../core/run/status.ts';
import type { JournalCommit } from '../ports/run-store.ts';

/** Below Firestore's 500 writes a commit; leaves room for snapshot, ledger rows and records. */
export const MAX_COMMIT_WRITES = 300;
/** Below Firestore's 10 MiB a request, with room for field names and encoding. */
export const MAX_COMMIT_BYTES = 4 * 1024 * 1024;
/** An event with its possible documents: a checkpoint and a step record, or a row of the ledger. */
const WRITES_PER_EVENT = 3;
/** Size of an event with its checkpoint and step record, besides its data and the output. */
const EVENT_OVERHEAD_BYTES = 2_048;

/**
 * Decides what to append, on the newest state, once per try (J2). A report of a past action returns the same drafts for every
 * state; a decision may return none. Throwing refuses only this append.
 */
export type Decide = (state: RunState) => readonly EventDraft[];

interface BatchParams {
  readonly state: RunState;
  readonly proposals: readonly Decide[];
  /** Owner of the lease this writer holds or is about to take; its events carry owner and epoch. */
  readonly owner?: string | undefined;
  /** Epoch ms. */
  readonly now: number;
  readonly newEventId: () => string;
}

/** Result of a proposal: its events in the batch, or the reason of its refusal. */
type ProposalResult =
  | {
      readonly kind: 'appended';
      readonly events: readonly RunEvent[];
      /** True if ledger rows are written with these events. Other writers may have changed those rows. */
      readonly withEffects: boolean;
    }
  | { readonly kind: 'refused'; readonly error: unknown };

/** A change of status, by the event that made it. */
interface StatusMove {
  readonly from: RunStatus;
  readonly to: RunStatus;
  readonly by: RunEvent;
}

export interface CommitBatch extends Pick<JournalCommit, 'events' | 'checkpoints' | 'steps'> {
  readonly after: RunState;
  readonly effects: readonly EffectWrite[];
  /** Every change of status in this commit, which may make several. */
  readonly moves: readonly StatusMove[];
  /** One result for each accepted proposal, in order; proposals beyond the limits of a commit are left for the next. */
  readonly results: readonly ProposalResult[];
}

/** Takes proposals in order until the commit is full; the first is always taken. */
export function assembleBatch({ state, proposals, owner, now, newEventId }: BatchParams): CommitBatch {
  const events: RunEvent[] = [];
  const checkpoints: Checkpoint[] = [];
  const steps = new Map<string, StepRecord>();
  const effects: EffectWrite[] = [];
  const moves: StatusMove[] = [];
  const results: ProposalResult[] = [];
  let after = state;
  let bytes = 0;

  for (const decide of proposals) {
    let drafts: readonly EventDraft[];
    let wanted: number;
    try {
      drafts = decide(after).map(boundedDraft);
      wanted = sizeOf(drafts);
    } catch (error) {
      results.push({ kind: 'refused', error });
      continue;
    }
    const writes = events.length + checkpoints.length + steps.size + effects.length;
    if (
      results.length > 0 &&
      (writes + WRITES_PER_EVENT * drafts.length > MAX_COMMIT_WRITES || bytes + wanted > MAX_COMMIT_BYTES)
    )
      break;
    bytes += wanted;
    const first = events.length;
    for (const draft of drafts) {
      const writer = writerOf(draft, after, owner);
      const event = seal(draft, { chain: after, id: newEventId(), now, writer });
      const checkpoint = checkpointOf(event, after, draft);
      if (checkpoint) checkpoints.push(checkpoint);
      const step = stepRecordOf(event, after.planVersion);
      if (step) steps.set(step.id, step);
      if (draft.effect) effects.push(draft.effect);
      const { status: from } = after;
      after = reduce(after, event);
      if (after.status !== from) moves.push({ from, to: after.status, by: event });
      events.push(event);
    }
    const withEffects = drafts.some(({ effect }) => effect !== undefined);
    results.push({ kind: 'appended', events: events.slice(first), withEffects });
  }
  return { after, events, checkpoints, steps: [...steps.values()], effects, moves, results };
}

function writerOf(draft: EventDraft, state: RunState, owner: string | undefined): Writer | undefined {
  if (draft.type === 'run_claimed') return { owner: draft.data.owner, epoch: draft.data.epoch };
  const { lease } = state;
  return owner !== undefined && lease?.owner === owner ? { owner, epoch: lease.epoch } : undefined;
}

/** @throws CairnError RUN_TOO_LARGE if an event does not fit into its document */
function sizeOf(drafts: readonly EventDraft[]): number {
  let bytes = 0;
  for (const draft of drafts) {
    const { data, outputText, effect } = draft;
    // The text is made once and used for both the hash and the stored event.
    const ofData = Buffer.byteLength(canonicalTextOf(data));
    assertEventFits(draft, ofData);
    bytes += EVENT_OVERHEAD_BYTES + ofData;
    if (outputText !== undefined) bytes += Buffer.byteLength(outputText);
    if (effect !== undefined) bytes += Buffer.byteLength(JSON.stringify(effect));
  }
  return bytes;
}
