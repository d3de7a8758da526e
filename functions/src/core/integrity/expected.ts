/**
 * What the journal implies of the documents beside it: the checkpoint of an event, and what of its output is known. Pure.
 *
 * Must not: make records of its own; their rules are in run/records.ts.
 */
import { sha256Hex } from '../encoding/hash.ts';
import { isSettled, type RunEvent } from '../run/events.ts';
import { type Checkpoint, checkpointOf } from '../run/records.ts';
import type { RunState } from '../run/state.ts';

export interface ExpectedCheckpoint {
  /** Without an output. */
  readonly checkpoint: Checkpoint;
  /** Undefined: it carries none. */
  readonly output?: ExpectedOutput;
}

export interface ExpectedOutput {
  /** SHA-256 of the output; undefined where the journal does not tell. */
  readonly sha?: string;
  /** The output itself, where the event holds it as well and the hash says that it is the same. */
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
  return { checkpoint, ...(output ? { output } : {}) };
}

function expectedOutput(event: RunEvent): ExpectedOutput | undefined {
  if (event.type === 'run_created') {
    const { input, inputHash } = event.data;
    return 'text' in input ? undefined : { sha: inputHash };
  }
  if (event.type === 'run_completed') {
    const { result, resultHash } = event.data;
    if ('text' in result) return { sha: sha256Hex(result.text), text: result.text };
    return resultHash === undefined ? {} : { sha: resultHash };
  }
  if (!isSettled(event) || event.type === 'step_failed') return undefined;
  const { outputHash: sha, outputsSummary } = event.data;
  // A short output is its own summary, and a skipped step's is null.
  const text = [outputsSummary, 'null'].find((known) => sha256Hex(known) === sha);
  return { sha, ...(text === undefined ? {} : { text }) };
}
