/**
 * Compares the ledger rows of a run with the effects in its journal. The ledger is never repaired, because external calls cannot
 * be derived from other data. Pure.
 */
import { type EffectRecord, type EffectStatus, effectIdOf, isInDoubt } from '../effects/effect.ts';
import { sha256Hex } from '../encoding/hash.ts';
import { present } from '../optional.ts';
import type { EventData, RunEvent } from '../run/events.ts';
import { isOver, type RunState } from '../run/state.ts';
import { compare, type DocumentKind, inFolder } from './compare.ts';
import { differing } from './differing.ts';
import type { RunAsFound } from './found.ts';
import type { ConsistencyProblem } from './problems.ts';

/** Members of a row by name; undefined: unknown. */
type RowMembers = { readonly [K in keyof EffectRecord]?: unknown };

/** The row that the journal implies, as far as it can be derived. */
export interface ExpectedEffect {
  /** The last event of the effect in the journal. */
  readonly last: 'attempted' | EventData['effect_settled']['outcome'];
  readonly place: RowMembers;
  /** Members that some events have; an undefined one is not compared. */
  readonly known: RowMembers;
}

/**
 * Statuses of a row that may be ahead of the journal: a response is written to its row first (E2), and a successor
 * looks up, or asks about, effects that its source left in doubt.
 */
const MAY_BE: { readonly [K in ExpectedEffect['last']]: readonly EffectStatus[] } = {
  attempted: ['attempted', 'recorded', 'failed', 'blocked'],
  in_doubt: ['attempted', 'recorded', 'failed', 'blocked'],
  blocked: ['blocked', 'recorded', 'failed'],
  recorded: ['recorded'],
  failed: ['failed'],
  reused: ['reused'],
};

/** Folds one more event about an effect. */
export function effectAfter(
  before: ExpectedEffect | undefined,
  event: RunEvent<'effect_attempted'> | RunEvent<'effect_settled'>,
): ExpectedEffect {
  const { effectId, stepId, itemKey, revision, capabilityId } = event.data;
  const place = { effectId, stepId, itemKey, revision, capabilityId };
  if (event.type === 'effect_attempted') {
    const { attempt, requestHash = before?.known.requestHash } = event.data;
    return { last: 'attempted', place, known: { attempt, epoch: event.writer?.epoch, requestHash } };
  }
  const { outcome: last, responseHash, originEffectId } = event.data;
  const { attempt, epoch, requestHash } = before?.known ?? {};
  return { last, place, known: { attempt, epoch, requestHash, responseHash, originEffectId } };
}

export const EFFECTS = {
  pathOf: inFolder('effects'),
  unreadable: 'EFFECT_UNREADABLE',
  orphaned: 'EFFECT_WITHOUT_EVENT',
  isHealable: () => false,
} as const;

export function effectProblems(
  { effects: found, journal }: RunAsFound,
  state: RunState,
): ConsistencyProblem[] {
  const { tenantId, rootRunId, head } = state;
  const kind: DocumentKind<EffectRecord, ExpectedEffect> = {
    ...EFFECTS,
    missing: ({ last }) => ['EFFECT_MISSING', { told: last }],
    differences(row, { last, place, known }, id) {
      const members = rowDifferences(row, { ...place, ...present(known), tenantId, rootRunId });
      if (!isIdOf(id, row)) members.push('idempotencyKey');
      if (!MAY_BE[last].includes(row.status)) members.push('status');
      if (members.length > 0) return [['EFFECT_DIFFERENT', { members: members.sort(), told: last }]];
      return isOver(state) && isInDoubt(row) ? [['EFFECT_IN_DOUBT_AT_END']] : [];
    },
    // Row and event are one commit (E1).
    mayBeLater: (_, expected) => !journal.isEndCertain && expected === undefined,
  };
  return compare(kind, { found, expected: journal.effects, head });
}

/** Members of the row that differ from the expected ones or contradict each other. */
export function rowDifferences(row: EffectRecord, expected: RowMembers): string[] {
  const names = Object.keys(expected) as (keyof EffectRecord)[];
  const found = Object.fromEntries(names.map((name) => [name, row[name]]));
  return [...differing(found, expected), ...wrongResultMembers(row)];
}

export function isIdOf(id: string, { idempotencyKey, n }: EffectRecord): boolean {
  try {
    return effectIdOf(idempotencyKey, n) === id;
  } catch {
    return false;
  }
}

/** The row of a recorded answer has its hash. */
function wrongResultMembers({ status, resultText, recordedResultRef, responseHash }: EffectRecord): string[] {
  if (status !== 'recorded') return [];
  if (resultText !== undefined) return sha256Hex(resultText) === responseHash ? [] : ['resultText'];
  // A resolution recorded without a result has none.
  if (recordedResultRef === undefined) return responseHash === undefined ? [] : ['resultText'];
  return recordedResultRef.sha256 === responseHash ? [] : ['recordedResultRef'];
}
