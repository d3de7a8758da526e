/**
 * Compares the found documents of a kind with those that the journal implies: a document is missing, unreadable, different, or
 * without an event. Pure, and total over any damage.
 */
import { messageOf } from '../thrown.ts';
import type { FoundDocument } from './found.ts';
import {
  type ConsistencyProblem,
  type Evidence,
  healable,
  type ProblemCode,
  unhealable,
} from './problems.ts';

/** A problem without its document. */
export type BareProblem = readonly [code: ProblemCode, evidence?: Evidence];

/** The rules of one kind of document. `F`: found document, `E`: expected one. */
export interface DocumentKind<F, E> {
  pathOf(id: string): string;
  missing(expected: E): BareProblem;
  readonly unreadable: ProblemCode;
  readonly orphaned: ProblemCode;
  /** May throw, because members of a decoded document may still have any form. */
  differences(found: F, expected: E, id: string): readonly BareProblem[];
  /** Returns true if a repair can fix the problem of an expected document; absent: always. */
  isHealable?(code: ProblemCode, expected: E | undefined): boolean;
  /** Returns true if an event beyond the end of the journal may have written the document; absent: never. */
  mayBeLater?(found: FoundDocument<F>, expected: E | undefined): boolean;
}

export interface Compared<F, E> {
  readonly found: readonly FoundDocument<F>[];
  /** By the ids of their documents. */
  readonly expected: ReadonlyMap<string, E>;
  /** Newest event of the journal. */
  readonly head: number;
}

export function compare<F, E>(
  kind: DocumentKind<F, E>,
  { found, expected, head }: Compared<F, E>,
): ConsistencyProblem[] {
  const problem = (id: string, [code, evidence]: BareProblem) =>
    kind.isHealable?.(code, expected.get(id)) === false
      ? unhealable(code, kind.pathOf(id), evidence)
      : healable(code, kind.pathOf(id), evidence);
  const foundIds = new Set(found.map(({ id }) => id));
  const missing = [...expected].filter(([id]) => !foundIds.has(id));
  return [
    ...found.flatMap((one) => {
      const wanted = expected.get(one.id);
      const subject = kind.pathOf(one.id);
      if (one.kind === 'newer') {
        return [unhealable('NEWER_SCHEMA', subject, { schemaVersion: one.schemaVersion })];
      }
      const faults = faultsOf(kind, one, wanted, head);
      // Then the journal is damaged, not the document.
      if (faults.length > 0 && kind.mayBeLater?.(one, wanted)) {
        return [unhealable('JOURNAL_TAIL_CUT', subject, { head })];
      }
      return faults.map((fault) => problem(one.id, fault));
    }),
    ...missing.map(([id, one]) => problem(id, kind.missing(one))),
  ];
}

function faultsOf<F, E>(
  kind: DocumentKind<F, E>,
  found: Exclude<FoundDocument<F>, { kind: 'newer' }>,
  expected: E | undefined,
  head: number,
): readonly BareProblem[] {
  const reason = found.kind === 'unreadable' ? { reason: found.reason } : {};
  if (expected === undefined) return [[kind.orphaned, { head, ...reason }]];
  if (found.kind === 'unreadable') return [[kind.unreadable, reason]];
  try {
    return kind.differences(found.value, expected, found.id);
  } catch (error) {
    return [[kind.unreadable, { reason: messageOf(error) }]];
  }
}

/** Paths of documents in a folder below the run. */
export function inFolder(folder: string): (id: string) => string {
  return (id) => `${folder}/${id}`;
}
