/** The turn at which a loop continues: the one after the last that completed. Earlier turns are not read. */
import { numberOf, type OperationNames, PAUSE, TURN } from '../../../core/flow/names.ts';
import { isSuccess, type StepOutcome } from '../../../core/run/state.ts';
import type { LastTurn } from '../../define/steps.ts';
import { parseFrozen } from '../../facts/output.ts';
import type { KnownOperation } from './operations-of.ts';
import type { RecordedEnds } from './recorded.ts';

interface Completed {
  readonly turn: number;
  readonly seq: number;
  readonly outcome: StepOutcome;
}

/** Turns follow one another, so the last one that completed stands for all before. Undefined: none has. */
export async function lastTurn(
  operations: readonly KnownOperation[],
  { names, ends }: { readonly names: OperationNames; readonly ends: RecordedEnds },
): Promise<LastTurn | undefined> {
  const last = lastCompleted(operations);
  if (!last) return undefined;
  const { turn, seq, outcome } = last;
  const { read } = await ends.take(seq, outcome);
  const end = await read();
  if (end.kind !== 'done') throw new Error(`checkpoint ${seq} of a completed turn carries no state`);
  names.skip(TURN, turn);
  // The pause after it may not be over.
  names.skip(PAUSE, turn - 1);
  return { turn, state: parseFrozen(end.output.text) };
}

function lastCompleted(operations: readonly KnownOperation[]): Completed | undefined {
  let last: Completed | undefined;
  for (const { name, state } of operations) {
    const turn = numberOf(name, TURN);
    if (turn === undefined || state.phase !== 'done' || !isSuccess(state.outcome)) continue;
    if (!last || turn > last.turn) last = { turn, seq: state.seq, outcome: state.outcome };
  }
  return last;
}
