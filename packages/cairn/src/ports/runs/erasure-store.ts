/**
 * Requested erasures, and the deletion of documents outside of runs. Every method throws `OutcomeUnknown` if it is
 * unknown whether the call was applied; all may be repeated.
 *
 * Must not: delete documents of a run; see retention-store.ts.
 */
import type { MailboxAddress } from '../../core/mailbox/mailbox.ts';
import type { Erasure, RunPosition } from '../../core/retention/erasure.ts';
import type { Page, PageRequest, Version } from '../run-store.ts';
import type { Cleared, MarkResult } from './retention-store.ts';

export interface StoredErasure {
  readonly erasure: Erasure;
  readonly version: Version;
}

/** A row that cannot be decoded, or that a newer version wrote, is reported by id, so that it does not hide the others. */
export type OpenErasure = { readonly id: string } & (
  | { readonly stored: StoredErasure; readonly unreadable?: undefined }
  | { readonly unreadable: Error }
);

/** A run of a tenant, including one marked for deletion. */
export interface TenantRun extends RunPosition {
  readonly rootRunId: string;
}

export interface TenantRuns {
  readonly tenantId: string;
  /** Only runs created at or before this time, epoch ms. */
  readonly until: number;
  /** The last run of the previous page. */
  readonly after: RunPosition | undefined;
  readonly limit: number;
}

/** Documents of a tenant outside of runs. Newer ones belong to requests after that for the erasure. */
export interface TenantDocuments {
  readonly tenantId: string;
  /** Only documents created at or before this time, epoch ms. */
  readonly until: number;
}

export interface TenantRecords extends TenantDocuments {
  /** `lastKey` of the previous part. */
  readonly after: string | undefined;
}

export interface ClearedRecords extends Cleared {
  /** The last inspected record. Newer records were skipped. */
  readonly lastKey: string | undefined;
}

export interface ErasureStore {
  read(id: string): Promise<StoredErasure | undefined>;
  create(erasure: Erasure): Promise<{ readonly kind: 'created' | 'exists' }>;
  /** Replaces the version last seen as a whole. */
  write(erasure: Erasure, seen: Version): Promise<MarkResult>;
  /**
   * Unfinished erasures by id, at most `limit`.
   *
   * @param after id of the last one of the previous page
   */
  open(after: string | undefined, limit: number): Promise<readonly OpenErasure[]>;
  /**
   * Newest request first.
   *
   * @param tenantHash absent: erasures of all tenants
   */
  list(tenantHash: string | undefined, page: PageRequest): Promise<Page<Erasure>>;
  /** The newest first. */
  runsOf(runs: TenantRuns): Promise<readonly TenantRun[]>;
  /** Idempotency records that name the run. */
  deleteRecordsOfRun(runId: string, limit: number): Promise<Cleared>;
  /** Deletes idempotency records of the tenant. Inspects at most `limit`. */
  deleteRecords(records: TenantRecords, limit: number): Promise<ClearedRecords>;
  /**
   * Event mailboxes of the tenant, in the order of their ids.
   *
   * @param after id of the last one of the previous page
   */
  mailboxesOf(tenantId: string, after: string | undefined, limit: number): Promise<readonly MailboxAddress[]>;
  deleteSchedules(schedules: TenantDocuments, limit: number): Promise<Cleared>;
  /** Deletes rows of the ledger without a run, with their large results. */
  deleteExternalEffects(effects: TenantDocuments, limit: number): Promise<Cleared>;
}
