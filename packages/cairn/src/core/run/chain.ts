/**
 * The hash chain of a journal: gives drafts their place (`seal`) and finds events that do not fit (`misfit`, `verifyChain`).
 * The hash covers the stored form, so the check covers exactly what was written.
 */

import { writeCanonical } from '../encoding/canonical.ts';
import { eventHash, genesisHash } from '../encoding/hash.ts';
import { canonicalTextOf } from '../encoding/json.ts';
import { withoutUndefined } from '../optional.ts';
import {
  COMMON_SCHEMA_VERSION,
  type EventDraft,
  FIRST_SCHEMA_VERSION,
  type RunEvent,
  SCHEMA_VERSION,
  type Writer,
} from './events.ts';

/** The newest event, to which the next is chained; its `at` keeps time monotonic within a run. */
interface ChainHead {
  readonly head: number;
  readonly headHash: string;
  readonly updatedAt: number;
}

/** The chain before the first event of a run. */
export function emptyChain(runId: string): ChainHead {
  return { head: 0, headHash: genesisHash(runId), updatedAt: 0 };
}

interface SealParams {
  readonly chain: ChainHead;
  /** 128 random bits in text; the same over all retries of one append. */
  readonly id: string;
  /** The writer's clock, epoch ms. */
  readonly now: number;
  readonly writer?: Writer | undefined;
}

/** Makes the event that follows `chain`: `at` is `max(now, at before)`. */
export function seal(draft: EventDraft, { chain, id, now, writer }: SealParams): RunEvent {
  const unsealed = {
    seq: chain.head + 1,
    id,
    type: draft.type,
    at: Math.max(now, chain.updatedAt),
    initiator: draft.initiator,
    ...(draft.actor === undefined ? {} : { actor: draft.actor }),
    // In the form that the store returns, so that the writer folds the same state as readers.
    data: withoutUndefined(draft.data),
    schemaVersion: versionOf(draft),
    ...(writer === undefined ? {} : { writer }),
    prevHash: chain.headHash,
  };
  return { ...unsealed, hash: hashOf(unsealed) } as RunEvent;
}

/** `gap`: an event is missing. `fork`: its predecessor is another event. `content`: it differs from the sealed event. */
export interface ChainMisfit {
  readonly kind: 'gap' | 'fork' | 'content';
  readonly problem: string;
}

/** Types that a worker of the first version does not know. */
const LATER_TYPES: ReadonlySet<EventDraft['type']> = new Set<EventDraft['type']>([
  'suspend_requested',
  'continue_requested',
  'wait_heartbeat',
  'worker_lost',
]);

/**
 * Lowest schema version that executes a run correctly after the event. Release 0.2.0 ignores the budget of a run or a day, and the limits
 * of a run that was blocked before it began. It also ignores a `shard`, and executes the run all the same. A worker of the first version
 * treats each `replay_started` as a new import, and does not wait for a child with `onParentEnd: 'wait'`.
 */
function versionOf({ type, data }: EventDraft): number {
  switch (type) {
    case 'run_started':
      return data.budget === undefined ? FIRST_SCHEMA_VERSION : SCHEMA_VERSION;
    case 'run_claimed':
      return data.budget === undefined && data.deadlineAt === undefined
        ? FIRST_SCHEMA_VERSION
        : SCHEMA_VERSION;
    case 'replay_started':
      return data.more ? COMMON_SCHEMA_VERSION : FIRST_SCHEMA_VERSION;
    case 'wait_opened': {
      const { day, heartbeat, child } = data.wait;
      if (day !== undefined) return SCHEMA_VERSION;
      return heartbeat || child?.onParentEnd === 'wait' ? COMMON_SCHEMA_VERSION : FIRST_SCHEMA_VERSION;
    }
    default:
      return LATER_TYPES.has(type) ? COMMON_SCHEMA_VERSION : FIRST_SCHEMA_VERSION;
  }
}

/** The reason why the event cannot follow this head of the chain; undefined if it can. Total over every decoded value. */
export function chainMisfit(
  { head, headHash }: Omit<ChainHead, 'updatedAt'>,
  event: RunEvent,
): ChainMisfit | undefined {
  if (event.seq !== head + 1) return { kind: 'gap', problem: `gap: expected event ${head + 1}` };
  if (event.prevHash !== headHash)
    return { kind: 'fork', problem: 'prevHash is not the hash of the event before' };
  const { hash, ...rest } = event;
  if (!isObject(event.data) || hashOf(rest) !== hash)
    return { kind: 'content', problem: 'the content does not match its hash' };
  return undefined;
}

/** The first event out of place, with the reason; undefined for a sound journal. */
export function verifyChain(
  runId: string,
  events: readonly RunEvent[],
): { seq: number; problem: string } | undefined {
  let { head, headHash } = emptyChain(runId);
  for (const event of events) {
    const found = chainMisfit({ head, headHash }, event);
    if (found) return { seq: event.seq, problem: found.problem };
    head = event.seq;
    headHash = event.hash;
  }
  return undefined;
}

function isObject(data: unknown): boolean {
  return typeof data === 'object' && data !== null;
}

/**
 * Hash of the canonical text of the event without `hash` and `prevHash`. The members are written in sorted order, so that no list
 * is sorted. The text of the data is computed once.
 */
function hashOf(event: Omit<RunEvent, 'hash'>): string {
  const { prevHash, data, actor, at, id, initiator, schemaVersion, seq, type, writer } = event;
  const first = actor === undefined ? '' : `"actor":${writeCanonical(actor)},`;
  const last = writer === undefined ? '' : `,"writer":${writeCanonical(writer)}`;
  return eventHash(
    prevHash,
    `{${first}"at":${writeCanonical(at)},"data":${canonicalTextOf(data)},"id":${writeCanonical(id)},` +
      `"initiator":${writeCanonical(initiator)},"schemaVersion":${writeCanonical(schemaVersion)},` +
      `"seq":${writeCanonical(seq)},"type":${writeCanonical(type)}${last}}`,
  );
}
