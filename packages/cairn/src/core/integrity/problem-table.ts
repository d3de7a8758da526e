/**
 * Every inconsistency that `check` can report: its stable code, its severity, and instructions for a person. Codes are only
 * added: the command line, alerts and `docs/operations.md` use them.
 *
 * Must not: find problems; see check-run.ts.
 */

/** `error`: the run or its readers rely on the damaged data. `warning`: worth checking, but harmless by itself. */
export type ProblemSeverity = 'error' | 'warning';

interface ProblemEntry {
  readonly severity: ProblemSeverity;
  /** Short and the same for every occurrence. */
  readonly title: string;
  /** Instructions for an operator if `repair` refuses. */
  readonly help: string;
  /** True if it prevents repairs of the run, because the source of a repair may itself be damaged. */
  readonly blocks: boolean;
}

const LOST =
  'The journal is the source of truth and is never repaired. Restore its documents from a backup, or leave the run and start or fork another.';
const PAGES_REBUILT = 'Repair rebuilds the run document and its pages from the journal.';
const OUTPUT_LOST = (is: string) =>
  `${is} is not stored elsewhere. Restore the document from a backup; if the run has ended, fork it from an earlier step.`;

function blocking(title: string, help = LOST): ProblemEntry {
  return { severity: 'error', title, help, blocks: true };
}

function error(title: string, help: string): ProblemEntry {
  return { severity: 'error', title, help, blocks: false };
}

function warning(title: string, help: string): ProblemEntry {
  return { severity: 'warning', title, help, blocks: false };
}

export const PROBLEMS = {
  JOURNAL_GAP: blocking('An event is missing from the journal'),
  JOURNAL_FORK: blocking('A journal event is at the wrong position'),
  JOURNAL_HASH_BREAK: blocking('A journal event was changed after it was written'),
  JOURNAL_UNREADABLE: blocking('A journal event cannot be read'),
  JOURNAL_IMPOSSIBLE: blocking('The journal has an invalid sequence of events'),
  JOURNAL_MISSING: blocking('The run has no journal'),
  JOURNAL_TAIL_CUT: blocking(
    'Documents of the run are newer than the end of its journal',
    `The newest events may be lost. ${LOST} If the named document is wrong, delete it and check again.`,
  ),
  NEWER_SCHEMA: blocking(
    'A newer version of the software wrote a document of the run',
    'Deploy the newer version and check again.',
  ),
  SNAPSHOT_MISSING: error(
    'The run document is missing',
    'Repair rebuilds it from the journal. Data that is not in the journal (heartbeat, legal hold) is lost: set a hold again.',
  ),
  SNAPSHOT_UNREADABLE: error('The run document cannot be read', 'Repair rebuilds it from the journal.'),
  PAGE_MISSING: error('A page of the run document is missing', PAGES_REBUILT),
  PAGE_DAMAGED: error('A page of the run document was changed after it was written', PAGES_REBUILT),
  PAGE_ORPHANED: warning(
    'The run has a page that its document does not reference',
    'Repair deletes it. It is harmless and is deleted with the run.',
  ),
  SNAPSHOT_SOFT_UNREADABLE: error(
    'The part of the run document that is not derived from the journal cannot be read',
    'Repair removes the named members. If one was a legal hold, set it again.',
  ),
  SNAPSHOT_BEHIND: error('The run document is older than the journal allows', 'Repair brings it up to date.'),
  SNAPSHOT_AHEAD: blocking(
    'The run document includes events that the journal does not have',
    `The newest events may be lost. ${LOST} If the journal is complete (compare it with the published events), delete the run document and repair.`,
  ),
  SNAPSHOT_OF_ANOTHER_JOURNAL: blocking(
    'The run document was made from a different journal',
    'One of the two was changed. If the journal is correct (compare it with the published events or a backup), delete the run document and repair.',
  ),
  SNAPSHOT_DIFFERENT: error('The run document does not match its journal', 'Repair corrects it.'),
  SETTLED_WITH_OPEN_WAIT: error(
    'The run has ended, and its document shows an open question',
    'Repair closes it, as the journal does.',
  ),
  HALT_NOT_APPLIED: error(
    'The run was not halted although a decision requires it',
    'Repair corrects the run document. If the journal has no events after the decision, cancel the run.',
  ),
  WAIT_WITHOUT_EVENT: error(
    'The run document has an open wait that the journal does not have',
    'Repair removes it.',
  ),
  EVENT_WITHOUT_WAIT: error(
    'The journal has an open wait that the run document does not have',
    'Repair restores it.',
  ),
  WAIT_NOT_LISTED: error(
    'The run waits for an event, but its event mailbox entry is missing',
    'Repair adds it again. Until then signal the run, which needs no entry.',
  ),
  LISTED_WITHOUT_WAIT: warning(
    'The event mailbox lists a closed wait',
    'Repair removes it. The next delivery of the event also removes it.',
  ),
  RENDEZVOUS_UNREADABLE: error(
    'The event mailbox cannot be read',
    'Other runs may be listed in it, so it is not replaced. Delete the document, repair each run that waits for the event, and send buffered events again.',
  ),
  INTERRUPTED_WITH_HANDOFF: warning(
    'The run was interrupted while a question is open',
    'Decide the question. Only the decision continues the run.',
  ),
  CHECKPOINT_MISSING: error('A checkpoint is missing', OUTPUT_LOST('Its output')),
  CHECKPOINT_UNREADABLE: error('A checkpoint cannot be read', OUTPUT_LOST('Its output')),
  CHECKPOINT_DIFFERENT: error('A checkpoint does not match its event', 'Repair corrects it.'),
  CHECKPOINT_OUTPUT_WRONG: error(
    'The output of a checkpoint does not match the recorded hash',
    OUTPUT_LOST('The original'),
  ),
  CHECKPOINT_ORPHANED: warning('A checkpoint has no event', 'Repair deletes it.'),
  ORIGIN_LOST: error(
    'An output reused from an earlier run is missing',
    'Check that run, and restore its checkpoint from a backup. If it cannot be restored, fork this run from an earlier step.',
  ),
  PAYLOAD_DAMAGED: error(
    'A large value is missing or damaged',
    'It is not stored elsewhere. Restore its chunks from a backup; if the run has ended, fork it from an earlier step.',
  ),
  STEP_MISSING: error('The document of a step is missing', 'Repair writes it.'),
  STEP_UNREADABLE: error('The document of a step cannot be read', 'Repair rebuilds it.'),
  STEP_DIFFERENT: error('The document of a step does not match the journal', 'Repair corrects it.'),
  STEP_ORPHANED: warning('The journal does not have the step of a step document', 'Repair deletes it.'),
  RUN_UNWRITABLE: error(
    'The store refuses to write the run',
    'Read the error of the store. If it concerns the service account or the database, grant roles/datastore.user or restore the database. If it names a value, fix the code that produces it and deploy. The run continues by itself.',
  ),
  RUN_STUCK: error(
    'Every dispatch of the run fails',
    'Read the error of the last dispatch. Fix the workflow or its dependencies and deploy: the run continues within a minute, or within an hour if its policy failed (`cairn runs resume` does not wait). Or cancel the run.',
  ),
  EFFECT_MISSING: error(
    'A row of the ledger is missing',
    'A resume or replay, or the next call with the key, would repeat the action. Restore the row from a backup before.',
  ),
  EFFECT_UNREADABLE: error(
    'A ledger row cannot be read',
    'Restore the row from a backup. The ledger is never rebuilt from other data.',
  ),
  EFFECT_DIFFERENT: error(
    'A ledger row contradicts the journal or itself',
    'Check the receiver for the outcome, and restore the row from a backup. The ledger is never rebuilt from other data.',
  ),
  EFFECT_WITHOUT_EVENT: error(
    'The ledger has a row of the run that its journal does not have',
    'Both are written in one commit, so the row was created or changed by hand. Compare it with a backup.',
  ),
  EFFECT_IN_DOUBT_AT_END: warning(
    'The run has ended with an effect whose outcome is unknown',
    'Check the receiver, and resolve the effect as recorded or failed. Or resume the run: its successor looks up the outcome, or asks.',
  ),
  WAKE_LATE: error(
    'The next scan time of the run is too late',
    'Repair sets the time derived from the journal.',
  ),
  INBOX_WRONG: error(
    'The inbox entry of the run is missing, unnecessary, or at the wrong position',
    'Repair corrects it from the journal.',
  ),
  SEARCH_WRONG: warning('The search identifiers of the run are incomplete or wrong', 'Repair rebuilds them.'),
  TERMINAL_FIELDS_MISSING: error(
    'The run has ended, but its document lacks the time, status or cause of the end',
    'Repair corrects it from the journal.',
  ),
  IDEMPOTENCY_RECORD_ELSEWHERE: error(
    'The idempotency record of the start points to another run, or to none',
    'A repeated start is answered with the wrong run. Find out what wrote the record. It expires within a day.',
  ),
  IDEMPOTENCY_RECORD_MISSING: warning(
    'The idempotency record of the start is missing before its expiry',
    'A repetition of the request would start a second run. Tell the caller not to repeat it. The record cannot be rebuilt, because the request is not stored elsewhere.',
  ),
  IDEMPOTENCY_RECORD_UNREADABLE: error(
    'The idempotency record of the start cannot be read',
    'Repetitions of the request are refused until it expires. If they must be accepted, delete the document: a repetition then starts another run.',
  ),
};
