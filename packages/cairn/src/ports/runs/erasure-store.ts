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

/** One whose document cannot be decoded, or that a newer version wrote, must not hide the others. */
export type OpenErasure = { readonly id: string } & (
  | { readonly stored: StoredErasure; readonly unreadable?: undefined }
  | { readonly unreadable: Error }
);

/** A run of a tenant, also one that is marked to go. */
export interface TenantRun extends RunPosition {
  readonly rootRunId: string;
}

export interface TenantRuns {
  readonly tenantId: string;
  /** Only runs that were created by then, epoch ms. */
  readonly until: number;
  /** The last one of the page before. */
  readonly after: RunPosition | undefined;
  readonly limit: number;
}

/** Documents of a tenant outside of runs. Newer ones belong to what the tenant did after its erasure was requested. */
export interface TenantDocuments {
  readonly tenantId: string;
  /** Only documents that were created by then, epoch ms. */
  readonly until: number;
}

export interface TenantRecords extends TenantDocuments {
  /** `lastKey` of the part before. */
  readonly after: string | undefined;
}

export interface ClearedRecords extends Cleared {
  /** The last record that was looked at; newer ones were passed over. */
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
   * @param after id of the last one of the page before
   */
  open(after: string | undefined, limit: number): Promise<readonly OpenErasure[]>;
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
  /** Idempotency records of the tenant: looks at no more than `limit`. */
  deleteRecords(records: TenantRecords, limit: number): Promise<ClearedRecords>;
  /**
   * Event mailboxes of the tenant, in the order of their ids.
   *
   * @param after id of the last one of the page before
   */
  mailboxesOf(tenantId: string, after: string | undefined, limit: number): Promise<readonly MailboxAddress[]>;
  deleteSchedules(schedules: TenantDocuments, limit: number): Promise<Cleared>;
  /** Rows of the ledger without a run, with their large results. */
  deleteExternalEffects(effects: TenantDocuments, limit: number): Promise<Cleared>;
}
