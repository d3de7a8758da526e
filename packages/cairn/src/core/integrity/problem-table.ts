/**
 * Every inconsistency that `check` can name (DESIGN section 11): its stable code, how bad it is, and what a person does
 * about it. Codes are only ever added: the command line, alerts and `docs/operations.md` branch on them.
 *
 * Must not: find problems; see check-run.ts.
 */

/** `error`: something the run or its readers rely on is wrong. `warning`: it wants a look, and does no harm by itself. */
export type Severity = 'error' | 'warning';

export interface ProblemEntry {
  readonly severity: Severity;
  /** Short and the same for every occurrence. */
  readonly title: string;
  /** What a person does where `repair` refuses. */
  readonly help: string;
  /** Nothing of the run may be repaired while it stands: what it would be repaired from is itself in question. */
  readonly blocks?: true;
}

const LOST =
  'The journal is the truth of the run and is never repaired. Restore its documents from a backup, or leave the run as it is and start or fork another.';

export const PROBLEMS = {
  JOURNAL_GAP: { severity: 'error', title: 'An event is missing from the journal', help: LOST, blocks: true },
  JOURNAL_FORK: {
    severity: 'error',
    title: 'An event of the journal stands where another belongs',
    help: LOST,
    blocks: true,
  },
  JOURNAL_HASH_BREAK: {
    severity: 'error',
    title: 'An event is not what was written',
    help: LOST,
    blocks: true,
  },
  JOURNAL_UNREADABLE: {
    severity: 'error',
    title: 'An event of the journal cannot be read',
    help: LOST,
    blocks: true,
  },
  JOURNAL_IMPOSSIBLE: {
    severity: 'error',
    title: 'The events of the journal cannot follow each other',
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
    title: 'Documents of the run are later than the end of its journal',
    help: `The newest events seem to be lost. ${LOST} If the document that is named is what is wrong, delete it and check again.`,
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
    help: 'Repair writes it anew from the journal. What the journal does not hold (heartbeat, a legal hold) is gone: set a hold again.',
  },
  SNAPSHOT_UNREADABLE: {
    severity: 'error',
    title: 'The run document cannot be read',
    help: 'Repair writes it anew from the journal.',
  },
  PAGE_MISSING: {
    severity: 'error',
    title: 'A page of the run document is missing',
    help: 'Repair writes the run document and its pages anew from the journal.',
  },
  PAGE_DAMAGED: {
    severity: 'error',
    title: 'A page of the run document is not what was written',
    help: 'Repair writes the run document and its pages anew from the journal.',
  },
  PAGE_ORPHANED: {
    severity: 'warning',
    title: 'A page lies under the run that its document does not name',
    help: 'Repair deletes it. It does no harm, and goes with the run.',
  },
  SNAPSHOT_SOFT_UNREADABLE: {
    severity: 'error',
    title: 'The part of the run document that the journal does not hold cannot be read',
    help: 'Repair takes out the members that are named. If a legal hold was among them, set it again.',
  },
  SNAPSHOT_BEHIND: {
    severity: 'error',
    title: 'The run document is behind the journal where it may not be',
    help: 'Repair brings it up to date.',
  },
  SNAPSHOT_AHEAD: {
    severity: 'error',
    title: 'The run document knows of events that the journal does not have',
    help: `The newest events seem to be lost. ${LOST} If the journal is certainly whole (compare it with the published events), delete the run document and repair.`,
    blocks: true,
  },
  SNAPSHOT_OF_ANOTHER_JOURNAL: {
    severity: 'error',
    title: 'The run document was made from another journal than the one that is there',
    help: 'Either was changed. If the journal is certainly right (compare it with the published events or a backup), delete the run document and repair.',
    blocks: true,
  },
  SNAPSHOT_DIFFERENT: {
    severity: 'error',
    title: 'The run document is not what its journal comes to',
    help: 'Repair makes it so.',
  },
  SETTLED_WITH_OPEN_WAIT: {
    severity: 'error',
    title: 'The run has ended, and its document shows an open question',
    help: 'Repair closes it, as the journal has.',
  },
  HALT_NOT_APPLIED: {
    severity: 'error',
    title: 'Somebody decided to halt the run, and it was not halted',
    help: 'Repair shows it where only the run document does not. If the journal itself says nothing of what followed, cancel the run.',
  },
  WAIT_WITHOUT_EVENT: {
    severity: 'error',
    title: 'The run document shows an open wait of which the journal does not know',
    help: 'Repair takes it out.',
  },
  EVENT_WITHOUT_WAIT: {
    severity: 'error',
    title: 'The journal opened a wait that the run document does not show',
    help: 'Repair puts it back.',
  },
  WAIT_NOT_LISTED: {
    severity: 'error',
    title: 'The run waits for an event, and its place at the rendezvous is gone',
    help: 'Repair lists it again. Until then signal the run, which needs no place.',
  },
  LISTED_WITHOUT_WAIT: {
    severity: 'warning',
    title: 'The rendezvous of an event lists a wait that is over',
    help: 'Repair takes it out. The next sender of the event would find that out as well.',
  },
  RENDEZVOUS_UNREADABLE: {
    severity: 'error',
    title: 'The rendezvous of an event cannot be read',
    help: 'Other runs may wait there too, so it is not replaced. Delete the document, then repair each run that waits for the event, and send again what was on its way.',
  },
  INTERRUPTED_WITH_HANDOFF: {
    severity: 'warning',
    title: 'The run was interrupted while a question to a person is open',
    help: 'Decide the question. The decision lets the run go on; nothing else may.',
  },
  CHECKPOINT_MISSING: {
    severity: 'error',
    title: 'A checkpoint is missing',
    help: 'Its output is known nowhere else. Restore the document from a backup; if the run has ended, fork it from an earlier step.',
  },
  CHECKPOINT_UNREADABLE: {
    severity: 'error',
    title: 'A checkpoint cannot be read',
    help: 'Its output is known nowhere else. Restore the document from a backup; if the run has ended, fork it from an earlier step.',
  },
  CHECKPOINT_DIFFERENT: {
    severity: 'error',
    title: 'A checkpoint is not what its event says',
    help: 'Repair makes it so.',
  },
  CHECKPOINT_OUTPUT_WRONG: {
    severity: 'error',
    title: 'The output in a checkpoint is not the one that was recorded',
    help: 'The right one is known nowhere else. Restore the document from a backup; if the run has ended, fork it from an earlier step.',
  },
  CHECKPOINT_ORPHANED: {
    severity: 'warning',
    title: 'There is a checkpoint that no event made',
    help: 'Repair deletes it.',
  },
  ORIGIN_LOST: {
    severity: 'error',
    title: 'An output that was taken over from an earlier run is not there any more',
    help: 'Check that run, and restore its checkpoint from a backup. If it cannot be restored, fork this run from an earlier step.',
  },
  PAYLOAD_DAMAGED: {
    severity: 'error',
    title: 'A large value cannot be read as it was written',
    help: 'It is known nowhere else. Restore its chunks from a backup; if the run has ended, fork it from an earlier step.',
  },
  STEP_MISSING: { severity: 'error', title: 'The document of a step is missing', help: 'Repair writes it.' },
  STEP_UNREADABLE: {
    severity: 'error',
    title: 'The document of a step cannot be read',
    help: 'Repair writes it anew.',
  },
  STEP_DIFFERENT: {
    severity: 'error',
    title: 'The document of a step is not what the journal says of it',
    help: 'Repair makes it so.',
  },
  STEP_ORPHANED: {
    severity: 'warning',
    title: 'There is a document of a step of which the journal does not know',
    help: 'Repair deletes it.',
  },
  RUN_UNWRITABLE: {
    severity: 'error',
    title: 'The store refuses to write the run',
    help: 'Read what the store says. If it refuses the account or the database, give the account roles/datastore.user or restore the database; if it names a value, mend what makes it and deploy. The run goes on by itself.',
  },
  RUN_STUCK: {
    severity: 'error',
    title: 'Every dispatch of the run throws',
    help: 'Read what the last one threw. Mend the workflow or what it needs, and deploy: the run goes on by itself within a minute. Or cancel it.',
  },
  EFFECT_MISSING: {
    severity: 'error',
    title: 'The ledger has no row of an outside action of which the journal tells',
    help: 'Nobody would know any more that it was done: a resume or replay would do it again. Restore the row from a backup before you make a successor of the run.',
  },
  EFFECT_UNREADABLE: {
    severity: 'error',
    title: 'The row of an outside action cannot be read',
    help: 'Restore the row from a backup. The ledger is never made again from anything else.',
  },
  EFFECT_DIFFERENT: {
    severity: 'error',
    title: 'The ledger and the journal say different things of an outside action',
    help: 'Find out at the receiver what is true, and restore the row from a backup. The ledger is never made again from anything else.',
  },
  EFFECT_WITHOUT_EVENT: {
    severity: 'error',
    title: 'The ledger has a row of the run of which its journal does not know',
    help: 'Both are written in one commit, so somebody made the row by hand, or changed whose it is. Compare it with a backup.',
  },
  EFFECT_IN_DOUBT_AT_END: {
    severity: 'warning',
    title: 'The run has ended, and nobody knows whether an outside action of it took place',
    help: 'Look at the receiver, and resolve the effect as recorded or failed. Or resume the run: its successor finds out, or asks you.',
  },
  WAKE_LATE: {
    severity: 'error',
    title: 'The run would be looked at later than it must be',
    help: 'Repair sets the time that the journal implies.',
  },
  INBOX_WRONG: {
    severity: 'error',
    title: 'The inbox misses the run, shows it without reason, or at another place',
    help: 'Repair has it listed as the journal says.',
  },
  SEARCH_WRONG: {
    severity: 'warning',
    title: 'The search does not find the run by all of its names, or by others than its own',
    help: 'Repair writes its names anew.',
  },
  TERMINAL_FIELDS_MISSING: {
    severity: 'error',
    title: 'The run has ended, and its document does not say when, how or why',
    help: 'Repair writes what the journal says.',
  },
  IDEMPOTENCY_RECORD_ELSEWHERE: {
    severity: 'error',
    title: 'The idempotency record of the start points to another run, or to none',
    help: 'A repeated start is answered with the wrong run. Find out who wrote the record; it expires by itself within a day.',
  },
  IDEMPOTENCY_RECORD_MISSING: {
    severity: 'warning',
    title: 'The idempotency record of the start is gone before its time',
    help: 'A repetition of the request would start a second run. Tell the caller not to repeat it; what was asked is not known, so the record cannot be made again.',
  },
  IDEMPOTENCY_RECORD_UNREADABLE: {
    severity: 'error',
    title: 'The idempotency record of the start cannot be read',
    help: 'Repetitions of the request are refused until it expires. Delete the document if they must be taken: a repetition then starts another run.',
  },
} as const satisfies Record<string, ProblemEntry>;
