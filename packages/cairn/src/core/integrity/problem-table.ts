/**
 * Every inconsistency that `check` can name: its stable code, how bad it is, and what a person does
 * about it. Codes are only ever added: the command line, alerts and `docs/operations.md` branch on them.
 *
 * Must not: find problems; see check-run.ts.
 */

/** `error`: something the run or its readers rely on is wrong. `warning`: worth checking, but harmless by itself. */
export type ProblemSeverity = 'error' | 'warning';

export interface ProblemEntry {
  readonly severity: ProblemSeverity;
  /** Short and the same for every occurrence. */
  readonly title: string;
  /** Instructions for an operator if `repair` refuses. */
  readonly help: string;
  /** Nothing of the run may be repaired while it stands: what it would be repaired from is itself in question. */
  readonly blocks?: true;
}

const LOST =
  'The journal is the source of truth and is never repaired. Restore its documents from a backup, or leave the run and start or fork another.';

export const PROBLEMS = {
  JOURNAL_GAP: { severity: 'error', title: 'An event is missing from the journal', help: LOST, blocks: true },
  JOURNAL_FORK: {
    severity: 'error',
    title: 'A journal event is at the wrong position',
    help: LOST,
    blocks: true,
  },
  JOURNAL_HASH_BREAK: {
    severity: 'error',
    title: 'A journal event was changed after it was written',
    help: LOST,
    blocks: true,
  },
  JOURNAL_UNREADABLE: {
    severity: 'error',
    title: 'A journal event cannot be read',
    help: LOST,
    blocks: true,
  },
  JOURNAL_IMPOSSIBLE: {
    severity: 'error',
    title: 'The journal has an invalid sequence of events',
    help: LOST,
    blocks: true,
  },
  JOURNAL_MISSING: {
    severity: 'error',
    title: 'The run has no journal',
    help: LOST,
    blocks: true,
  },
  JOURNAL_TAIL_CUT: {
    severity: 'error',
    title: 'Documents of the run are newer than the end of its journal',
    help: `The newest events may be lost. ${LOST} If the named document is wrong, delete it and check again.`,
    blocks: true,
  },
  NEWER_SCHEMA: {
    severity: 'error',
    title: 'A newer version of the software wrote a document of the run',
    help: 'Deploy the newer version and check again.',
    blocks: true,
  },
  SNAPSHOT_MISSING: {
    severity: 'error',
    title: 'The run document is missing',
    help: 'Repair rebuilds it from the journal. Data that is not in the journal (heartbeat, legal hold) is lost: set a hold again.',
  },
  SNAPSHOT_UNREADABLE: {
    severity: 'error',
    title: 'The run document cannot be read',
    help: 'Repair rebuilds it from the journal.',
  },
  PAGE_MISSING: {
    severity: 'error',
    title: 'A page of the run document is missing',
    help: 'Repair rebuilds the run document and its pages from the journal.',
  },
  PAGE_DAMAGED: {
    severity: 'error',
    title: 'A page of the run document was changed after it was written',
    help: 'Repair rebuilds the run document and its pages from the journal.',
  },
  PAGE_ORPHANED: {
    severity: 'warning',
    title: 'The run has a page that its document does not reference',
    help: 'Repair deletes it. It is harmless and is deleted with the run.',
  },
  SNAPSHOT_SOFT_UNREADABLE: {
    severity: 'error',
    title: 'The part of the run document that is not derived from the journal cannot be read',
    help: 'Repair removes the named members. If one was a legal hold, set it again.',
  },
  SNAPSHOT_BEHIND: {
    severity: 'error',
    title: 'The run document is older than the journal allows',
    help: 'Repair brings it up to date.',
  },
  SNAPSHOT_AHEAD: {
    severity: 'error',
    title: 'The run document includes events that the journal does not have',
    help: `The newest events may be lost. ${LOST} If the journal is complete (compare it with the published events), delete the run document and repair.`,
    blocks: true,
  },
  SNAPSHOT_OF_ANOTHER_JOURNAL: {
    severity: 'error',
    title: 'The run document was made from a different journal',
    help: 'One of the two was changed. If the journal is correct (compare it with the published events or a backup), delete the run document and repair.',
    blocks: true,
  },
  SNAPSHOT_DIFFERENT: {
    severity: 'error',
    title: 'The run document does not match its journal',
    help: 'Repair corrects it.',
  },
  SETTLED_WITH_OPEN_WAIT: {
    severity: 'error',
    title: 'The run has ended, and its document shows an open question',
    help: 'Repair closes it, as the journal does.',
  },
  HALT_NOT_APPLIED: {
    severity: 'error',
    title: 'The run was not halted although a decision requires it',
    help: 'Repair corrects the run document. If the journal has no events after the decision, cancel the run.',
  },
  WAIT_WITHOUT_EVENT: {
    severity: 'error',
    title: 'The run document has an open wait that the journal does not have',
    help: 'Repair removes it.',
  },
  EVENT_WITHOUT_WAIT: {
    severity: 'error',
    title: 'The journal has an open wait that the run document does not have',
    help: 'Repair restores it.',
  },
  WAIT_NOT_LISTED: {
    severity: 'error',
    title: 'The run waits for an event, but its event mailbox entry is missing',
    help: 'Repair adds it again. Until then signal the run, which needs no entry.',
  },
  LISTED_WITHOUT_WAIT: {
    severity: 'warning',
    title: 'The event mailbox lists a closed wait',
    help: 'Repair removes it. The next delivery of the event also removes it.',
  },
  RENDEZVOUS_UNREADABLE: {
    severity: 'error',
    title: 'The event mailbox cannot be read',
    help: 'Other runs may be listed in it, so it is not replaced. Delete the document, repair each run that waits for the event, and send buffered events again.',
  },
  INTERRUPTED_WITH_HANDOFF: {
    severity: 'warning',
    title: 'The run was interrupted while a question is open',
    help: 'Decide the question. Only the decision continues the run.',
  },
  CHECKPOINT_MISSING: {
    severity: 'error',
    title: 'A checkpoint is missing',
    help: 'Its output is not stored elsewhere. Restore the document from a backup; if the run has ended, fork it from an earlier step.',
  },
  CHECKPOINT_UNREADABLE: {
    severity: 'error',
    title: 'A checkpoint cannot be read',
    help: 'Its output is not stored elsewhere. Restore the document from a backup; if the run has ended, fork it from an earlier step.',
  },
  CHECKPOINT_DIFFERENT: {
    severity: 'error',
    title: 'A checkpoint does not match its event',
    help: 'Repair corrects it.',
  },
  CHECKPOINT_OUTPUT_WRONG: {
    severity: 'error',
    title: 'The output of a checkpoint does not match the recorded hash',
    help: 'The original is not stored elsewhere. Restore the document from a backup; if the run has ended, fork it from an earlier step.',
  },
  CHECKPOINT_ORPHANED: {
    severity: 'warning',
    title: 'A checkpoint has no event',
    help: 'Repair deletes it.',
  },
  ORIGIN_LOST: {
    severity: 'error',
    title: 'An output reused from an earlier run is missing',
    help: 'Check that run, and restore its checkpoint from a backup. If it cannot be restored, fork this run from an earlier step.',
  },
  PAYLOAD_DAMAGED: {
    severity: 'error',
    title: 'A large value is missing or damaged',
    help: 'It is not stored elsewhere. Restore its chunks from a backup; if the run has ended, fork it from an earlier step.',
  },
  STEP_MISSING: { severity: 'error', title: 'The document of a step is missing', help: 'Repair writes it.' },
  STEP_UNREADABLE: {
    severity: 'error',
    title: 'The document of a step cannot be read',
    help: 'Repair rebuilds it.',
  },
  STEP_DIFFERENT: {
    severity: 'error',
    title: 'The document of a step does not match the journal',
    help: 'Repair corrects it.',
  },
  STEP_ORPHANED: {
    severity: 'warning',
    title: 'The journal does not have the step of a step document',
    help: 'Repair deletes it.',
  },
  RUN_UNWRITABLE: {
    severity: 'error',
    title: 'The store refuses to write the run',
    help: 'Read the error of the store. If it concerns the service account or the database, grant roles/datastore.user or restore the database. If it names a value, fix the code that produces it and deploy. The run continues by itself.',
  },
  RUN_STUCK: {
    severity: 'error',
    title: 'Every dispatch of the run fails',
    help: 'Read the error of the last dispatch. Fix the workflow or its dependencies and deploy: the run continues within a minute. Or cancel the run.',
  },
  EFFECT_MISSING: {
    severity: 'error',
    title: 'A row of the ledger is missing',
    help: 'A resume or replay, or the next call with the key, would repeat the action. Restore the row from a backup before.',
  },
  EFFECT_UNREADABLE: {
    severity: 'error',
    title: 'A ledger row cannot be read',
    help: 'Restore the row from a backup. The ledger is never rebuilt from other data.',
  },
  EFFECT_DIFFERENT: {
    severity: 'error',
    title: 'A ledger row contradicts the journal or itself',
    help: 'Check the receiver for the outcome, and restore the row from a backup. The ledger is never rebuilt from other data.',
  },
  EFFECT_WITHOUT_EVENT: {
    severity: 'error',
    title: 'The ledger has a row of the run that its journal does not have',
    help: 'Both are written in one commit, so the row was created or changed by hand. Compare it with a backup.',
  },
  EFFECT_IN_DOUBT_AT_END: {
    severity: 'warning',
    title: 'The run has ended with an effect whose outcome is unknown',
    help: 'Check the receiver, and resolve the effect as recorded or failed. Or resume the run: its successor looks up the outcome, or asks.',
  },
  WAKE_LATE: {
    severity: 'error',
    title: 'The next scan time of the run is too late',
    help: 'Repair sets the time derived from the journal.',
  },
  INBOX_WRONG: {
    severity: 'error',
    title: 'The inbox entry of the run is missing, unnecessary, or at the wrong position',
    help: 'Repair corrects it from the journal.',
  },
  SEARCH_WRONG: {
    severity: 'warning',
    title: 'The search identifiers of the run are incomplete or wrong',
    help: 'Repair rebuilds them.',
  },
  TERMINAL_FIELDS_MISSING: {
    severity: 'error',
    title: 'The run has ended, but its document lacks the time, status or cause of the end',
    help: 'Repair corrects it from the journal.',
  },
  IDEMPOTENCY_RECORD_ELSEWHERE: {
    severity: 'error',
    title: 'The idempotency record of the start points to another run, or to none',
    help: 'A repeated start is answered with the wrong run. Find out what wrote the record. It expires within a day.',
  },
  IDEMPOTENCY_RECORD_MISSING: {
    severity: 'warning',
    title: 'The idempotency record of the start is missing before its expiry',
    help: 'A repetition of the request would start a second run. Tell the caller not to repeat it. The record cannot be rebuilt, because the request is not stored elsewhere.',
  },
  IDEMPOTENCY_RECORD_UNREADABLE: {
    severity: 'error',
    title: 'The idempotency record of the start cannot be read',
    help: 'Repetitions of the request are refused until it expires. If they must be accepted, delete the document: a repetition then starts another run.',
  },
} as const satisfies Record<string, ProblemEntry>;
