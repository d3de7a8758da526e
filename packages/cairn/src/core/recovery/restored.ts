/**
 * A restored database has the state of its backup. Effects of its runs since then are in no journal, so the next effect of
 * such a run is in doubt. Pure.
 */
import type { RunState, StepState } from '../run/state.ts';

export interface RestoreMark {
  /** Epoch ms. Runs started before may have continued elsewhere, beyond their journal. */
  readonly at: number;
  /** Principal as in journals; `system`: detected automatically. */
  readonly by: string;
  /** No run is driven until a person releases the installation. */
  readonly isPaused: boolean;
}

/**
 * True if the database belongs to another installation: it records where it was first used. An import into the previous
 * database cannot be detected, so an operator has to mark it.
 */
export function isCopy(home: string | undefined, own: string | undefined): boolean {
  return home !== undefined && own !== undefined && home !== own;
}

/**
 * True if the run itself, by its own age, may have acted before the restore. A slot of a schedule that was due before then had
 * its run there, under the same id, whenever it is started here.
 */
export function mayHaveActed(
  { createdAt, trigger }: Pick<RunState, 'createdAt' | 'trigger'>,
  at: number,
): boolean {
  return createdAt < at || (trigger.slotAt !== undefined && trigger.slotAt < at);
}

/**
 * True if the body may have run before the restore, and must not run twice. An attempt due after the restore cannot have, among them
 * one that a person allowed.
 *
 * @param before state of the execution in the journal; undefined: it did not begin
 * @param restoredAt epoch ms; undefined: no restore concerns the run
 */
export function mayHaveRun(
  { idempotent, newAttempt }: { readonly idempotent: boolean; readonly newAttempt?: boolean | undefined },
  before: StepState | undefined,
  restoredAt: number | undefined,
): boolean {
  if (restoredAt === undefined || idempotent || newAttempt) return false;
  return before?.phase !== 'retrying' || before.whenRoom === true || before.retryAt < restoredAt;
}
