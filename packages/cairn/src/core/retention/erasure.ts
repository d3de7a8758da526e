/**
 * The record of an erasure: its subject, the numbers of deleted documents, and the API client that requested it. Once it is done it names no
 * person, no input and no result: run ids are random, and a tenant is named by a hash. Pure.
 */
import { sha256Hex } from '../encoding/hash.ts';
import { canonicalJson } from '../encoding/json.ts';
import type { KeptReason } from './lineage.ts';

/** Deleted documents, by kind. */
export interface DeletedCounts {
  readonly runs: number;
  /** Journal, checkpoints, steps, remembered results, large values. */
  readonly documents: number;
  /** Rows of the ledger. */
  readonly effects: number;
  readonly records: number;
  /** Event mailboxes that were deleted or lost events. */
  readonly waits: number;
  readonly schedules: number;
  /** Events of those runs that had been published. Subscribers keep their copies. */
  readonly published: number;
}

export const NOTHING_GONE: DeletedCounts = {
  runs: 0,
  documents: 0,
  effects: 0,
  records: 0,
  waits: 0,
  schedules: 0,
  published: 0,
};

/** A run, by its place among the runs of its tenant. */
export interface RunPosition {
  readonly runId: string;
  /** Epoch ms. */
  readonly createdAt: number;
}

/**
 * The place at which the next pass continues. Runs that are kept and documents newer than the request stay, so a pass from the
 * beginning would read them again.
 */
export interface ErasurePosition {
  /** The last run whose lineage was visited. Absent: the next pass begins with the newest run. */
  readonly run?: RunPosition | undefined;
  /** Key of the last idempotency record. */
  readonly record?: string | undefined;
  /** Id of the last mailbox. */
  readonly mailbox?: string | undefined;
  /** True if a mailbox could not be changed: when all were visited, the walk starts over. */
  readonly mustRepeat?: boolean | undefined;
}

export const ERASURE_SCOPES = ['lineage', 'tenant'] as const;

export interface Erasure {
  readonly id: string;
  readonly scope: (typeof ERASURE_SCOPES)[number];
  readonly tenantHash: string;
  /** Tenant to erase, until it is done. */
  readonly tenantId?: string | undefined;
  /** Lineages that are not deleted yet; empty for a tenant, whose runs are found by their tenant. */
  readonly roots: readonly string[];
  readonly state: 'open' | 'done';
  /** Absent for lineages, and once the erasure is done. */
  readonly position?: ErasurePosition | undefined;
  /** Reason why one of them is kept, as last seen. */
  readonly keptBy?: Pick<KeptReason, 'why' | 'runId'> | undefined;
  readonly gone: DeletedCounts;
  /** Epoch ms. */
  readonly requestedAt: number;
  /** Principal of an API client. Absent if a user asked: only the log names the user. */
  readonly requestedBy?: string | undefined;
  /** Epoch ms. */
  readonly finishedAt?: number | undefined;
}

export function tenantHash(tenantId: string): string {
  return sha256Hex(canonicalJson(['tenant', tenantId]));
}

/** Users are omitted: the record would name a person for ever. */
export function requesterKept(principal: string): string | undefined {
  return principal.startsWith('c.') ? principal : undefined;
}

/** The same for every request about the same run, or about the same tenant. */
export function erasureId(tenantId: string, runId?: string): string {
  return `era_${sha256Hex(canonicalJson(['erasure', tenantId, runId ?? null])).slice(0, 32)}`;
}

export function isErasureId(text: string): boolean {
  return /^era_[0-9a-f]{32}$/.test(text);
}

export function added(gone: DeletedCounts, more: Partial<DeletedCounts>): DeletedCounts {
  const sum = { ...gone };
  for (const [name, count] of Object.entries(more)) sum[name as keyof DeletedCounts] += count ?? 0;
  return sum;
}
