/**
 * Volatile metadata of a run document, not folded from the journal: heartbeats, running bodies, publication, retention.
 */

import { BILLED, type Cost } from '../../core/cost/cost.ts';
import { isRecord } from '../../core/is-record.ts';
import type { LogTotals } from '../../core/logs/segment.ts';
import type { LegalHold } from '../../core/retention/lineage.ts';
import type { VolatileMetadata } from '../../core/run/state.ts';
import { increment } from '../commits/increment.ts';
import {
  documentCodec,
  flag,
  integer,
  jsonList,
  type Members,
  map,
  optional,
  renamed,
  text,
  time,
  words,
} from './kinds.ts';

export const metadataCodec = documentCodec<VolatileMetadata>({
  lastHeartbeatAt: optional(time),
  leaseExtendedTo: optional(time),
  dutiesMet: renamed('obligationsMet', optional(flag)),
  publishedSeq: optional(integer),
  publishDueAt: optional(time),
  firstEventId: optional(text),
  inFlight: optional(jsonList<NonNullable<VolatileMetadata['inFlight']>>()),
  running: optional(jsonList<NonNullable<VolatileMetadata['running']>>()),
  cost: optional(
    map<Cost>({
      reads: optional(integer),
      writes: optional(integer),
      deletes: optional(integer),
      tasks: optional(integer),
    }),
  ),
  logs: optional(
    map<LogTotals>({ lines: integer, bytes: integer, dropped: integer, texts: optional(words<string>()) }),
  ),
  legalHold: optional(map<LegalHold>({ by: text, at: time, reason: text })),
  deletionMarkedAt: optional(time),
});

export function decodeMetadata(document: Members, what: string): VolatileMetadata {
  return metadataCodec.decode((document.soft ?? {}) as Members, what);
}

/** The readable members of the volatile metadata, and the names of the unreadable ones. */
export function salvageMetadata(document: Members): {
  readonly metadata: VolatileMetadata;
  readonly damaged: readonly string[];
} {
  const stored = document.soft ?? {};
  if (!isRecord(stored)) return { metadata: {}, damaged: ['soft'] };
  let salvaged: VolatileMetadata = {};
  const damaged: string[] = [];
  for (const [name, member] of Object.entries(stored)) {
    try {
      salvaged = { ...salvaged, ...metadataCodec.decode({ [name]: member }, name) };
    } catch {
      damaged.push(`soft.${name}`);
    }
  }
  return { metadata: salvaged, damaged };
}

/** Members that retention writes: the deletion mark and the legal hold. */
export function encodeRetained(retained: Pick<VolatileMetadata, 'legalHold' | 'deletionMarkedAt'>): Members {
  return metadataCodec.encode(retained);
}

/** Increments of the stored total. */
export function encodeCost(cost: Cost): Members {
  const update: Members = {};
  for (const what of BILLED) {
    const amount = cost[what];
    if (amount !== undefined) update[`soft.cost.${what}`] = increment(amount);
  }
  return update;
}
