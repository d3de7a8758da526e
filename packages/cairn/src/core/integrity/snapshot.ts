/** Problems of the run document, compared with the fold of its journal (J4, J5, J10). Pure. */

import { isInDoubt } from '../effects/effect.ts';
import { canonicalTextOf } from '../encoding/json.ts';
import { optional } from '../optional.ts';
import { askingSince, leavesDoubt } from '../run/asking.ts';
import type { Wait } from '../run/events.ts';
import { waitsFor } from '../run/now/waits-for.ts';
import type { RunState } from '../run/state.ts';
import { isRunStatus, isTerminal } from '../run/status.ts';
import { isParked, nextDue, OPEN_WAIT_MS, PARKED_MS, wakeAt } from '../run/wake.ts';
import { foundBy } from '../search/found-by.ts';
import { storedListing } from '../search/listing.ts';
import { messageOf } from '../thrown.ts';
import type { FoundSnapshot, PageFact, RunFacts } from './facts.ts';
import { healable, type Problem, type ProblemCode, unhealable } from './problems.ts';
import { differing } from './same.ts';

const SUBJECT = 'run';

/** Longest deferral (J10) of a run that operators hold, or that is about to be scanned. */
const PUT_OFF_MS = 5 * 60_000;
/** Tolerance for the clock of the process that wrote the time. */
const CLOCKS_APART_MS = 5 * 60_000;

/** Members that say when, how and why a run has ended. */
const TERMINAL_MEMBERS: { readonly [status: string]: readonly (keyof RunState)[] } = {
  completed: ['completedAt', 'durationMs', 'result'],
  failed: ['completedAt', 'durationMs', 'error'],
  cancelled: ['completedAt', 'durationMs', 'stopKind'],
};

/** Problems of a run whose journal is sound and folds to `state`. */
export function snapshotProblems(facts: RunFacts, state: RunState): Problem[] {
  const { snapshot } = facts;
  if (!snapshot) return [healable('SNAPSHOT_MISSING', SUBJECT)];
  const { softDamage: members } = snapshot;
  const soft = members.length > 0 ? [healable('SNAPSHOT_SOFT_UNREADABLE', SUBJECT, { members })] : [];
  return [...foldedProblems(facts, snapshot, state), ...soft];
}

const PAGE_CODES: { readonly [P in PageFact['problem']]: ProblemCode } = {
  missing: 'PAGE_MISSING',
  damaged: 'PAGE_DAMAGED',
  orphaned: 'PAGE_ORPHANED',
};

/** Rebuilding the run document also rebuilds its pages. */
export function pageProblems({ pages }: RunFacts): Problem[] {
  return pages.map(({ id, problem }) => healable(PAGE_CODES[problem], `pages/${id}`));
}

function foldedProblems(facts: RunFacts, snapshot: FoundSnapshot, state: RunState): Problem[] {
  if (snapshot.kind === 'newer') {
    return [unhealable('NEWER_SCHEMA', SUBJECT, { schemaVersion: snapshot.schemaVersion })];
  }
  if (snapshot.kind === 'unreadable') {
    return [healable('SNAPSHOT_UNREADABLE', SUBJECT, { reason: snapshot.reason })];
  }
  const { atSnapshot } = facts.journal;
  if (!atSnapshot) return [unknownOrigin(snapshot.value, state)];
  return [
    ...differencesSafely(snapshot.value, atSnapshot),
    ...lag(facts, atSnapshot, state),
    ...lateWake(facts, snapshot, state),
    ...wrongInbox(facts, snapshot, atSnapshot),
    ...wrongNames(snapshot, atSnapshot),
    ...wrongListing(snapshot, atSnapshot),
    ...wrongWaiting(snapshot, atSnapshot),
  ];
}

/** It was made from an event that this journal does not have. */
function unknownOrigin(found: RunState, state: RunState): Problem {
  const evidence = { snapshotHead: found.head, journalHead: state.head };
  const code = found.head > state.head ? 'SNAPSHOT_AHEAD' : 'SNAPSHOT_OF_ANOTHER_JOURNAL';
  return unhealable(code, SUBJECT, evidence);
}

function lag({ journal }: RunFacts, atSnapshot: RunState, state: RunState): Problem[] {
  if (atSnapshot.head === state.head || journal.mayLag) return [];
  const evidence = { snapshotHead: atSnapshot.head, journalHead: state.head };
  return [healable('SNAPSHOT_BEHIND', SUBJECT, evidence)];
}

/** A document that was decoded may still hold anything where a value has parts. */
function differencesSafely(found: RunState, expected: RunState): Problem[] {
  try {
    return differences(found, expected);
  } catch (error) {
    return [healable('SNAPSHOT_UNREADABLE', SUBJECT, { reason: messageOf(error) })];
  }
}

/** Each differing member is reported once: by the most specific problem. */
function differences(found: RunState, expected: RunState): Problem[] {
  const problems: Problem[] = [];
  const left = new Set(differing(found, expected));
  const tell = (code: ProblemCode, members: readonly string[], evidence: Problem['evidence'] = {}) => {
    const told = members.filter((member) => left.delete(member));
    if (told.length > 0) problems.push(healable(code, SUBJECT, { members: told, ...evidence }));
  };
  if (expected.stopKind === 'halt' && found.status !== 'cancelled')
    tell('HALT_NOT_APPLIED', ['status', 'stopKind']);
  if (isRunStatus(found.status) && isTerminal(found.status)) {
    const missing = (TERMINAL_MEMBERS[found.status] ?? []).filter((member) => found[member] === undefined);
    tell('TERMINAL_FIELDS_MISSING', missing);
  }
  if (left.has('waits')) {
    for (const [code, waits] of waitsAmiss(found, expected)) {
      if (waits.length > 0) tell(code, ['waits'], { waits });
    }
  }
  tell('SNAPSHOT_DIFFERENT', [...left]);
  return problems;
}

function waitsAmiss(found: RunState, expected: RunState): [ProblemCode, string[]][] {
  const there = idsOf(found.waits);
  const wanted = idsOf(expected.waits);
  const extra = there.filter((id) => !wanted.includes(id));
  const settled = found.status === 'completed' || found.status === 'cancelled';
  return [
    [settled ? 'SETTLED_WITH_OPEN_WAIT' : 'WAIT_WITHOUT_EVENT', extra],
    ['EVENT_WITHOUT_WAIT', wanted.filter((id) => !there.includes(id))],
  ];
}

/** Ids of decoded waits, which may have any form. */
function idsOf(waits: readonly Wait[]): string[] {
  if (!Array.isArray(waits)) return [];
  return waits.flatMap((wait: Partial<Wait> | null) => (typeof wait?.id === 'string' ? [wait.id] : []));
}

/**
 * Written with every snapshot, so it is exactly what the journal implied at that event; but removed from an ended run
 * once the ledger knows the outcome of all its effects.
 */
function wrongInbox(
  { effects }: RunFacts,
  { askingSince: stored }: FoundSnapshot,
  atSnapshot: RunState,
): Problem[] {
  const implied = askingSince(atSnapshot);
  if (stored === implied) return [];
  if (stored === undefined && leavesDoubt(atSnapshot) && isAllKnown(effects, atSnapshot)) return [];
  const evidence = { ...optional('implied', implied), ...optional('stored', stored) };
  return [healable('INBOX_WRONG', SUBJECT, evidence)];
}

/** Returns true if the ledger has the outcome of each; false for a missing or unreadable row. */
function isAllKnown(rows: RunFacts['effects'], { effects }: RunState): boolean {
  const known = new Set(rows.flatMap((row) => (row.kind === 'sound' && !isInDoubt(row.value) ? row.id : [])));
  return effects.every(({ effectId }) => known.has(effectId));
}

/** Stored names may be anything, including names chosen by callers, so the evidence has neither. */
function wrongNames({ foundBy: stored }: FoundSnapshot, atSnapshot: RunState): Problem[] {
  const names = foundBy(atSnapshot);
  const isRight = Array.isArray(stored) && stored.length === names.length;
  return isRight && names.every((name, at) => stored[at] === name) ? [] : [healable('SEARCH_WRONG', SUBJECT)];
}

/** Without it, or with that of an earlier head, lists read the waits and show no counts. */
function wrongListing({ listed: stored }: FoundSnapshot, atSnapshot: RunState): Problem[] {
  const implied = storedListing(atSnapshot);
  if (stored === undefined || stored === canonicalTextOf(implied)) return [];
  if (typeof stored === 'string' && headOf(stored) < implied.head) return [];
  return [healable('SNAPSHOT_DIFFERENT', SUBJECT, { members: ['listed'] })];
}

/** Absent from a snapshot that an earlier version wrote: lists find the run by its status alone. */
function wrongWaiting({ waitsFor: stored }: FoundSnapshot, atSnapshot: RunState): Problem[] {
  if (stored === undefined || stored === waitsFor(atSnapshot)) return [];
  return [healable('SNAPSHOT_DIFFERENT', SUBJECT, { members: ['waitsFor'] })];
}

/** Infinite for what is none. */
function headOf(stored: string): number {
  const head = /^\{"head":(\d+),/.exec(stored)?.[1];
  return head === undefined ? Number.POSITIVE_INFINITY : Number(head);
}

/** Too early is harmless, and so is what has been put off for as long as it may be. */
function lateWake(facts: RunFacts, found: FoundSnapshot, state: RunState): Problem[] {
  const implied = wakeAt(state, found.soft);
  if (implied === undefined) return [];
  const latest = Math.max(implied, facts.readAt + CLOCKS_APART_MS + mayBePutOff(state));
  if (found.wakeAt !== undefined && found.wakeAt <= latest) return [];
  const evidence = { implied, ...(found.wakeAt === undefined ? {} : { stored: found.wakeAt }) };
  return [healable('WAKE_LATE', SUBJECT, evidence)];
}

/** The scan looks at a run that rests, and then puts off the next look by what is usual for such a run. */
function mayBePutOff(state: RunState): number {
  if (state.status !== 'awaiting_approval' && state.status !== 'waiting_external') return PUT_OFF_MS;
  if (isParked(state)) return PARKED_MS;
  return nextDue(state) === undefined ? OPEN_WAIT_MS : PUT_OFF_MS;
}
