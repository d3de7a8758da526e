/** The turn or part at which a loop continues: the one after the last that completed. Earlier ones are not read. */
import { numberOf, type OperationNames, PART, PAUSE, TURN } from '../../../core/flow/names.ts';
import { isSuccess, type StepOutcome } from '../../../core/run/state.ts';
import type { PartOutput } from '../../define/flow/loop-step.ts';
import type { FlowStep, LastTurn, LoopStart } from '../../define/steps.ts';
import { parseFrozen } from '../../recording/output.ts';
import type { KnownOperation } from './known-operations.ts';
import type { RecordedEnds } from './recorded-ends.ts';

interface CompletedTurn {
  readonly number: number;
  readonly seq: number;
  readonly outcome: StepOutcome;
}

interface LoopStartParams {
  readonly names: OperationNames;
  readonly ends: RecordedEnds;
  readonly loop: FlowStep['loop'];
  readonly turnsOfARun: number;
}

/** Turns and parts run one after the other, so the last completed one implies those before. */
export async function loopStart(
  operations: readonly KnownOperation[],
  { names, ends, loop, turnsOfARun }: LoopStartParams,
): Promise<LoopStart> {
  const hasParts = operations.some(({ name }) => numberOf(name, PART) !== undefined);
  return { last: await last(), hasParts, turnsOfARun };

  async function last(): Promise<LastTurn | undefined> {
    const part = lastCompleted(operations, PART);
    if (part) {
      names.skip(PART, part.number);
      return ((await endOf(part, ends)) as { readonly part: PartOutput }).part;
    }
    const turn = lastCompleted(operations, TURN);
    if (!turn) return undefined;
    names.skip(TURN, turn.number);
    // A part begins with a pause. The pause after the last turn may not be over.
    names.skip(PAUSE, loop?.part ? turn.number - 1 : turn.number);
    return { turn: turn.number, state: await endOf(turn, ends) };
  }
}

async function endOf({ seq, outcome }: CompletedTurn, ends: RecordedEnds): Promise<unknown> {
  const { read } = await ends.take(seq, outcome);
  const end = await read();
  if (end.kind !== 'done') throw new Error(`checkpoint ${seq} of a completed turn carries no state`);
  return parseFrozen(end.output.text);
}

function lastCompleted(operations: readonly KnownOperation[], of: string): CompletedTurn | undefined {
  let last: CompletedTurn | undefined;
  for (const { name, state } of operations) {
    const number = numberOf(name, of);
    if (number === undefined || state.phase !== 'done' || !isSuccess(state.outcome)) continue;
    if (!last || number > last.number) last = { number, seq: state.seq, outcome: state.outcome };
  }
  return last;
}
