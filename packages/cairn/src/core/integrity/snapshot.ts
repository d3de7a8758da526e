/** The run document, compared with the fold of its journal (J4, J5, J10). Pure. */

import { isInDoubt } from '../effects/effect.ts';
import { canonicalTextOf } from '../encoding/json.ts';
import { UNREAD_STORED_AS } from '../run/data/unread-signals.ts';
import type { Wait } from '../run/events.ts';
import { waitsFor } from '../run/now/waits-for.ts';
import { askingSince, endedInDoubt } from '../run/open-questions.ts';
import type { RunState } from '../run/state.ts';
import { isRunStatus, isTerminal } from '../run/status.ts';
import {
  isBlocked,
  isSuspendedWithoutWorker,
  LONGEST_CHECK_MS,
  nextDue,
  OPEN_WAIT_MS,
  readySince,
  wakeAt,
} from '../run/wake.ts';
import { storedListing } from '../search/listing.ts';
import { areStoredNames } from '../search/match-index.ts';
import { type BareProblem, compare, type DocumentKind } from './compare.ts';
import { differing } from './differing.ts';
import type { FaultyPage, FoundSnapshot, RunAsFound } from './found.ts';
import { PROBLEMS } from './problem-table.ts';
import { type ConsistencyProblem, type Evidence, healable, type ProblemCode } from './problems.ts';

const SUBJECT = 'run';

/** Longest deferral (J10) of a paused run, or of one that is about to be scanned. */
const PUT_OFF_MS = 5 * 60_000;
/** Tolerance for the clock of the process that wrote the time. */
const CLOCKS_APART_MS = 5 * 60_000;

/** Members that say when, how and why a run has ended. */
const TERMINAL_MEMBERS: { readonly [status: string]: readonly (keyof RunState)[] } = {
  completed: ['completedAt', 'durationMs', 'result'],
  failed: ['completedAt', 'durationMs', 'error'],
  cancelled: ['completedAt', 'durationMs', 'stopKind'],
};

const PAGE_CODES: { readonly [P in FaultyPage['problem']]: ProblemCode } = {
  missing: 'PAGE_MISSING',
  damaged: 'PAGE_DAMAGED',
  orphaned: 'PAGE_ORPHANED',
};

/** Problems of a run whose journal is sound and folds to `state`. */
export function snapshotProblems(run: RunAsFound, state: RunState): ConsistencyProblem[] {
  const { snapshot, pages } = run;
  const kind: DocumentKind<RunState, RunState> = {
    pathOf: () => SUBJECT,
    missing: () => ['SNAPSHOT_MISSING'],
    unreadable: 'SNAPSHOT_UNREADABLE',
    orphaned: 'SNAPSHOT_OF_ANOTHER_JOURNAL',
    differences: (found) => (snapshot ? snapshotFaults(run, { snapshot, found, state }) : []),
    isHealable: (code) => !PROBLEMS[code].blocks,
  };
  const expected = new Map([[snapshot?.id ?? state.id, state]]);
  const problems = compare(kind, { found: snapshot ? [snapshot] : [], expected, head: state.head });
  const { metadataDamage: members = [] } = snapshot ?? {};
  if (members.length > 0) problems.push(healable('SNAPSHOT_SOFT_UNREADABLE', SUBJECT, { members }));
  // Rebuilding the run document also rebuilds its pages.
  const ofPages = pages.map(({ id, problem }) => healable(PAGE_CODES[problem], `pages/${id}`));
  return [...problems, ...ofPages];
}

interface ComparedSnapshot {
  readonly snapshot: FoundSnapshot;
  /** The decoded part of it. */
  readonly found: RunState;
  readonly state: RunState;
}

function snapshotFaults(run: RunAsFound, compared: ComparedSnapshot): BareProblem[] {
  const { found, state } = compared;
  const { atSnapshot, mayLag } = run.journal;
  const heads = { snapshotHead: found.head, journalHead: state.head };
  // The snapshot was made from an event that is not in this journal.
  if (!atSnapshot)
    return [[found.head > state.head ? 'SNAPSHOT_AHEAD' : 'SNAPSHOT_OF_ANOTHER_JOURNAL', heads]];
  return [
    ...foldedFaults(found, atSnapshot),
    ...when(atSnapshot.head !== state.head && !mayLag, 'SNAPSHOT_BEHIND', heads),
    ...derivedFaults(run, compared, atSnapshot),
  ];
}

function when(condition: boolean, ...fault: BareProblem): BareProblem[] {
  return condition ? [fault] : [];
}

/** Each differing member is reported once: by the most specific problem. */
function foldedFaults(found: RunState, expected: RunState): BareProblem[] {
  const left = new Set(differing(found, expected));
  const faults: BareProblem[] = [];
  const report = (code: ProblemCode, members: readonly string[], evidence: Evidence = {}) => {
    const reported = members.filter((member) => left.delete(member));
    if (reported.length > 0) faults.push([code, { members: reported, ...evidence }]);
  };
  if (expected.stopKind === 'halt' && found.status !== 'cancelled')
    report('HALT_NOT_APPLIED', ['status', 'stopKind']);
  if (isRunStatus(found.status) && isTerminal(found.status)) {
    const missing = (TERMINAL_MEMBERS[found.status] ?? []).filter((member) => found[member] === undefined);
    report('TERMINAL_FIELDS_MISSING', missing);
  }
  const [foundIds, wanted] = [idsOf(found.waits), idsOf(expected.waits)];
  const extra = foundIds.filter((id) => !wanted.includes(id));
  const isSettled = found.status === 'completed' || found.status === 'cancelled';
  if (extra.length > 0)
    report(isSettled ? 'SETTLED_WITH_OPEN_WAIT' : 'WAIT_WITHOUT_EVENT', ['waits'], { waits: extra });
  const absent = wanted.filter((id) => !foundIds.includes(id));
  if (absent.length > 0) report('EVENT_WITHOUT_WAIT', ['waits'], { waits: absent });
  const inDocument = [...left].map((member) => (member === 'unread' ? UNREAD_STORED_AS : member));
  if (inDocument.length > 0) faults.push(['SNAPSHOT_DIFFERENT', { members: inDocument }]);
  return faults;
}

/** Ids of decoded waits, which may have any form. */
function idsOf(waits: readonly Wait[]): string[] {
  if (!Array.isArray(waits)) return [];
  return waits.flatMap((wait: Partial<Wait> | null) => (typeof wait?.id === 'string' ? [wait.id] : []));
}

/** Faults of the members by which queries find the run. They are written with every snapshot, so all but the time of the next scan are exact. */
function derivedFaults(
  run: RunAsFound,
  { snapshot, state }: ComparedSnapshot,
  atSnapshot: RunState,
): BareProblem[] {
  const { wakeAt: wakes, askingSince: asks, foundBy: names, listed, waitsFor: waits } = snapshot;
  const due = wakeAt(state, snapshot.metadata);
  // A time that is too early, or within the allowed deferral, is harmless.
  const latest = Math.max(due ?? 0, run.readAt + CLOCKS_APART_MS + maxDeferralMs(state));
  const asking = askingSince(atSnapshot);
  // Removed from an ended run once the ledger knows the outcome of all its effects.
  const isAnswered = asks === undefined && endedInDoubt(atSnapshot) && isAllKnown(run.effects, atSnapshot);
  return [
    ...when(due !== undefined && !(wakes !== undefined && wakes <= latest), 'WAKE_LATE', times(due, wakes)),
    ...when(asks !== asking && !isAnswered, 'INBOX_WRONG', times(asking, asks)),
    // Stored names may be anything, including names chosen by callers, so there is no evidence.
    ...when(!areStoredNames(names, atSnapshot), 'SEARCH_WRONG'),
    ...when(!isListing(listed, atSnapshot), 'SNAPSHOT_DIFFERENT', { members: ['listed'] }),
    // Absent from a snapshot that an earlier version wrote: lists find the run by its status alone.
    ...when(waits !== undefined && waits !== waitsFor(atSnapshot), 'SNAPSHOT_DIFFERENT', {
      members: ['waitsFor'],
    }),
  ];
}

function times(implied: number | undefined, stored: number | null | undefined): Evidence {
  return { ...(implied !== undefined && { implied }), ...(stored !== undefined && { stored }) };
}

/** Allowed deferral of a run: the scan checks a waiting run and then sets the next check after the usual interval. */
function maxDeferralMs(state: RunState): number {
  if (isSuspendedWithoutWorker(state)) return OPEN_WAIT_MS;
  if (state.status !== 'awaiting_approval' && state.status !== 'waiting_external')
    return readySince(state) === undefined ? PUT_OFF_MS : LONGEST_CHECK_MS;
  if (isBlocked(state)) return LONGEST_CHECK_MS;
  return nextDue(state) === undefined ? OPEN_WAIT_MS : PUT_OFF_MS;
}

/** Returns true if the ledger has the outcome of each; false for a missing or unreadable row. */
function isAllKnown(rows: RunAsFound['effects'], { effects }: RunState): boolean {
  const known = new Set(rows.flatMap((row) => (row.kind === 'sound' && !isInDoubt(row.value) ? row.id : [])));
  return effects.every(({ effectId }) => known.has(effectId));
}

/** A missing listing, or one of an earlier head, is allowed: lists then read the waits and show no counts. */
function isListing(stored: unknown, atSnapshot: RunState): boolean {
  const implied = storedListing(atSnapshot);
  if (stored === undefined || stored === canonicalTextOf(implied)) return true;
  const head = typeof stored === 'string' ? /^\{"head":(\d+),/.exec(stored)?.[1] : undefined;
  return head !== undefined && Number(head) < implied.head;
}
