/**
 * Requested erasures, and the deletion of documents outside of runs. Every method throws `OutcomeUnknown` if it is
 * unknown whether the call was applied; all may be repeated.
 *
 * Must not: delete documents of a run; see retention-store.ts.
 */
import type { Erasure } from '../../core/retention/erasure.ts';
import type { Page, PageRequest, Version } from '../run-store.ts';
import type { Cleared, MarkResult } from './retention-store.ts';

export interface StoredErasure {
  readonly erasure: Erasure;
  readonly version: Version;
}

/** A run of a tenant, also one that is marked to go. */
export interface TenantRun {
  readonly runId: string;
  readonly rootRunId: string;
  /** Epoch ms. */
  readonly createdAt: number;
}

export interface TenantRuns {
  readonly tenantId: string;
  /** Only runs that were created by then, epoch ms. */
  readonly until: number;
  /** The last one of the page before. */
  readonly after: TenantRun | undefined;
  readonly limit: number;
}

export interface ErasureStore {
  read(id: string): Promise<StoredErasure | undefined>;
  create(erasure: Erasure): Promise<{ readonly kind: 'created' | 'exists' }>;
  /** Replaces the version last seen as a whole. */
  write(erasure: Erasure, seen: Version): Promise<MarkResult>;
  /** Unfinished erasures by id, at most `limit`. */
  open(limit: number): Promise<readonly StoredErasure[]>;
  /**
   * Newest request first.
   *
   * @param tenantHash absent: those of all tenants
   */
  list(tenantHash: string | undefined, page: PageRequest): Promise<Page<Erasure>>;
  /** The newest first. */
  runsOf(runs: TenantRuns): Promise<readonly TenantRun[]>;
  /** Idempotency records that name the run. */
  deleteRecordsOfRun(runId: string, limit: number): Promise<Cleared>;
  /** Idempotency records of the tenant. */
  deleteRecords(tenantId: string, limit: number): Promise<Cleared>;
  deleteWaits(tenantId: string, limit: number): Promise<Cleared>;
  deleteSchedules(tenantId: string, limit: number): Promise<Cleared>;
  /** Rows of the ledger without a run, with their large results. */
  deleteExternalEffects(tenantId: string, limit: number): Promise<Cleared>;
}
