/**
 * Documents that the journal implies: the checkpoint of an event, and the known parts of its output. Pure.
 *
 * Must not: build records itself; see run/records.ts.
 */
import { sha256Hex } from '../encoding/hash.ts';
import { type CheckpointRef, isSettled, type RunEvent } from '../run/events.ts';
import { type Checkpoint, checkpointOf } from '../run/records.ts';
import type { RunState } from '../run/state.ts';

export interface ExpectedCheckpoint {
  /** The checkpoint without its output. */
  readonly checkpoint: Checkpoint;
  /** Undefined if the checkpoint has no output. */
  readonly output?: ExpectedOutput;
  /** Set if an earlier run of the lineage stores the output. */
  readonly takenOver?: TakenOver;
}

interface TakenOver {
  readonly from: CheckpointRef;
  /** SHA-256 of the output. */
  readonly sha: string;
}

interface ExpectedOutput {
  /** SHA-256 of the output; undefined if the journal does not have it. */
  readonly sha?: string;
  /** The output itself, if the event has it and the hash matches. */
  readonly text?: string;
}

/** @param before the state the event was folded onto; undefined for the first */
export function expectedCheckpoint(
  event: RunEvent,
  before: RunState | undefined,
): ExpectedCheckpoint | undefined {
  const output = expectedOutput(event);
  const carrying = checkpointOf(event, before, output ? { outputText: '' } : {});
  if (!carrying) return undefined;
  const { outputText: _, ...checkpoint } = carrying;
  const takenOver = takenOverBy(event);
  return { checkpoint, ...(output ? { output } : {}), ...(takenOver ? { takenOver } : {}) };
}

function takenOverBy(event: RunEvent): TakenOver | undefined {
  if (event.type === 'step_reused') return { from: event.data.from, sha: event.data.outputHash };
  if (event.type !== 'run_created' || event.data.inputFrom === undefined) return undefined;
  return { from: event.data.inputFrom, sha: event.data.inputHash };
}

function expectedOutput(event: RunEvent): ExpectedOutput | undefined {
  if (event.type === 'run_created') {
    const { input, inputHash, inputFrom } = event.data;
    // A reused output is stored with another run, which vouches for it.
    return 'text' in input || inputFrom ? undefined : { sha: inputHash };
  }
  if (event.type === 'run_completed') {
    const { result, resultHash } = event.data;
    if ('text' in result) return { sha: sha256Hex(result.text), text: result.text };
    return resultHash === undefined ? {} : { sha: resultHash };
  }
  if (!isSettled(event) || event.type === 'step_failed' || event.type === 'step_reused') return undefined;
  const { outputHash: sha, outputsSummary } = event.data;
  // A short output is its own summary, and a skipped step's is null.
  const text = [outputsSummary, 'null'].find((known) => sha256Hex(known) === sha);
  return { sha, ...(text === undefined ? {} : { text }) };
}
