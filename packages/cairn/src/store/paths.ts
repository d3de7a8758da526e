/**
 * Collections and documents of an installation, each with its writers, readers and deletion. Run ids and keys are
 * encoded in paths, so that no external text can reach another document.
 */
import {
  type CollectionReference,
  type DocumentReference,
  FieldPath,
  type Firestore,
  type Query,
} from '@google-cloud/firestore';
import { encodeKey } from '../core/encoding/idempotency-keys.ts';
import { seqId } from '../core/encoding/ids.ts';
import { type MailboxAddress, mailboxId } from '../core/mailbox/mailbox.ts';
import { type CollectionNames, collectionNames, PREFIX_OF_THE_MODEL } from './layout/collections.ts';

export class Paths {
  readonly #db: Firestore;
  readonly #names: CollectionNames;

  constructor(db: Firestore, prefix: string = PREFIX_OF_THE_MODEL) {
    this.#db = db;
    this.#names = collectionNames(prefix);
  }

  /** Snapshots. Written by starts, journal commits and touches; read by everybody; deleted by retention. */
  runs(): CollectionReference {
    return this.#db.collection(this.#names.runs);
  }

  run(runId: string): DocumentReference {
    return this.#db.doc(this.runPath(runId));
  }

  /** Path of {@link run}, for writes: a reference consists of a dozen objects. */
  runPath(runId: string): string {
    return `${this.#names.runs}/${encodeKey(runId)}`;
  }

  /** The journal. Created by starts and journal commits, never changed; read by folds and lists; deleted with the run. */
  events(run: DocumentReference): CollectionReference {
    return run.collection(this.#names.events);
  }

  event(run: DocumentReference, seq: number): DocumentReference {
    return this.#db.doc(this.eventPath(run.path, seq));
  }

  eventPath(run: string, seq: number): string {
    return `${run}/${this.#names.events}/${seqId(seq)}`;
  }

  /** Created beside the event of their seq, never changed; read by steps that need an output; deleted with the run. */
  checkpoints(run: DocumentReference): CollectionReference {
    return run.collection(this.#names.checkpoints);
  }

  checkpoint(run: DocumentReference, seq: number): DocumentReference {
    return this.#db.doc(this.checkpointPath(run.path, seq));
  }

  checkpointPath(run: string, seq: number): string {
    return `${run}/${this.#names.checkpoints}/${seqId(seq)}`;
  }

  /** Set by journal commits, derived from the journal; read by lists only; deleted with the run. */
  steps(run: DocumentReference): CollectionReference {
    return run.collection(this.#names.steps);
  }

  step(run: DocumentReference, key: string): DocumentReference {
    return this.#db.doc(this.stepPath(run.path, key));
  }

  stepPath(run: string, key: string): string {
    return `${run}/${this.#names.steps}/${encodeKey(key)}`;
  }

  /**
   * Results recorded by `memo` in step bodies. Created by bodies under must-not-exist, never changed; read by the next attempt
   * of the same revision; deleted with the run.
   */
  memos(run: DocumentReference, step: string): CollectionReference {
    return this.step(run, step).collection(this.#names.memos);
  }

  /**
   * Chunks of large values, addressed by content. Set (always to the same) before the commit that refers to them; read by
   * every reader of the value; deleted with the run, or by a start that created no run.
   */
  payloadChunk(run: DocumentReference, sha256: string, n: number): DocumentReference {
    return this.payloads(run).doc(`${sha256}-${n}`);
  }

  payloads(run: DocumentReference): CollectionReference {
    return run.collection(this.#names.payloads);
  }

  /**
   * Parts of snapshots that do not fit into one document, addressed by content. Created and deleted by the commits that write
   * the snapshot; read with it; deleted with the run.
   */
  pages(run: DocumentReference): CollectionReference {
    return run.collection(this.#names.pages);
  }

  page(run: DocumentReference, sha256: string): DocumentReference {
    return this.pages(run).doc(sha256);
  }

  /**
   * Lines that step bodies logged, in the order of their ids. Set (always to the same, or with more) beside a snapshot of a dispatch; read by people
   * only; deleted with the run.
   */
  logs(run: DocumentReference): CollectionReference {
    return run.collection(this.#names.logs);
  }

  logSegment(run: DocumentReference, id: string): DocumentReference {
    return this.logs(run).doc(id);
  }

  /** Payloads of all runs in the order of the runs, after those of the given run. */
  payloadsAfter(run: DocumentReference | undefined): Query {
    // No id has a character below `!` or above `~`, so these bounds are before, between and after all ids.
    const from = run
      ? run.collection(`${this.#names.payloads}~`)
      : this.runs().doc('!').collection(this.#names.payloads);
    const until = this.runs().doc('~').collection(this.#names.payloads);
    return this.#db
      .collectionGroup(this.#names.payloads)
      .orderBy(FieldPath.documentId())
      .startAt(from.doc('!'))
      .endAt(until.doc('~'));
  }

  /** Memos of all steps of a run, including steps without a document. */
  memosOf(run: DocumentReference): Query {
    return this.#db
      .collectionGroup(this.#names.memos)
      .orderBy(FieldPath.documentId())
      .startAt(run.collection(this.#names.steps).doc('!').collection(this.#names.memos).doc('!'))
      .endAt(run.collection(this.#names.steps).doc('~').collection(this.#names.memos).doc('~'));
  }

  /** Written by starts and by the idempotency store; read by repetitions of a key; deleted by the TTL policy. */
  idempotencyRecords(): CollectionReference {
    return this.#db.collection(this.#names.idempotency);
  }

  idempotencyRecord(key: string): DocumentReference {
    return this.idempotencyRecords().doc(encodeKey(key));
  }

  /**
   * The side-effect ledger, one namespace for a lineage of runs. Created by journal commits, changed by them and by the
   * answers of calls; read by bodies that act, by people and by successors; deleted with the lineage.
   */
  effects(): CollectionReference {
    return this.#db.collection(this.#names.effects);
  }

  effect(effectId: string): DocumentReference {
    return this.effects().doc(encodeKey(effectId));
  }

  /**
   * Written and read by runs that wait for an event (or end) and by senders of events; deleted by the change that empties it,
   * and by the TTL policy if only delivered events are left.
   */
  mailbox(address: MailboxAddress): DocumentReference {
    return this.allMailboxes().doc(mailboxId(address));
  }

  /**
   * Written by callers of the API and by the tick, which fires them and keeps those that workflows declare; read by both;
   * deleted by callers.
   */
  schedules(): CollectionReference {
    return this.#db.collection(this.#names.schedules);
  }

  schedule(scheduleId: string): DocumentReference {
    return this.schedules().doc(encodeKey(scheduleId));
  }

  /**
   * The plan of each version of a workflow as of its first run. Created by starts, never changed; read by each process once per
   * version; never deleted, because a version keeps its meaning after the deletion of its last run.
   */
  plan(type: string, planVersion: number): DocumentReference {
    return this.#db.collection(this.#names.plans).doc(encodeKey(`${type}@${planVersion}`));
  }

  /** Written when API keys are issued (by admins through the API, or by the local cloud); read by calls of the API; deleted by hand. */
  clients(): CollectionReference {
    return this.#db.collection(this.#names.clients);
  }

  client(clientId: string): DocumentReference {
    return this.clients().doc(encodeKey(clientId));
  }

  /**
   * Findings about runs that cannot be written. Written by their dispatches; read by the diagnosis and readers of the run;
   * deleted by the scan.
   */
  findings(): CollectionReference {
    return this.#db.collection(this.#names.findings);
  }

  finding(runId: string): DocumentReference {
    return this.findings().doc(runId);
  }

  /**
   * Limits and spending of a tenant on a UTC day. Written by dispatches of tenants with a limit and by raises; read by both and
   * by people; deleted by the TTL policy.
   */
  budgets(): CollectionReference {
    return this.#db.collection(this.#names.budgets);
  }

  budget(tenantId: string, day: string): DocumentReference {
    return this.budgets().doc(encodeKey(`${day}@${tenantId}`));
  }

  /** Pending and completed erasures. Written by requests and by ticks of retention; read by both; never deleted. */
  erasures(): CollectionReference {
    return this.#db.collection(this.#names.erasures);
  }

  erasure(id: string): DocumentReference {
    return this.erasures().doc(encodeKey(id));
  }

  /** Progress of retention. Read and written by its ticks; never deleted. */
  retention(): DocumentReference {
    return this.#db.collection(this.#names.config).doc('retention');
  }

  /** Last runs of the scheduled functions. Written by each after its run; read by diagnoses; never deleted. */
  heartbeats(): DocumentReference {
    return this.#db.collection(this.#names.config).doc('heartbeats');
  }

  /** All event mailboxes, for the check that expired ones are deleted. */
  allMailboxes(): CollectionReference {
    return this.#db.collection(this.#names.waits);
  }

  /** Kill switch and pauses. Written by operators (API, or by hand in an emergency); read by dispatches and the scan; never deleted. */
  runtimeConfig(): DocumentReference {
    return this.#db.collection(this.#names.config).doc('runtime');
  }
}
