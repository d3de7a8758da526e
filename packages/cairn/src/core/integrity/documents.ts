/** The documents beside the journal, compared with it: checkpoints with their outputs, and step records. Pure. */

import { encodeKey } from '../encoding/idempotency-keys.ts';
import { seqId } from '../encoding/ids.ts';
import type { StepRecord } from '../run/records.ts';
import type { RunState } from '../run/state.ts';
import { compare, type DocumentKind, inFolder } from './compare.ts';
import { differing } from './differing.ts';
import type { ExpectedCheckpoint } from './expected.ts';
import type { FoundCheckpoint, FoundDocument, RunAsFound } from './found.ts';
import { type ConsistencyProblem, unhealable } from './problems.ts';

const checkpointPath = inFolder('checkpoints');

export function checkpointProblems(run: RunAsFound, { head }: RunState): ConsistencyProblem[] {
  const { journal, checkpoints: found, origins, payloads } = run;
  const outputs = outputsOf(run);
  const kind: DocumentKind<FoundCheckpoint, ExpectedCheckpoint> = {
    pathOf: checkpointPath,
    missing: () => ['CHECKPOINT_MISSING'],
    unreadable: 'CHECKPOINT_UNREADABLE',
    orphaned: 'CHECKPOINT_ORPHANED',
    differences(stored, expected) {
      const { outputRef: _, ...checkpoint } = stored.checkpoint;
      const members = differing(checkpoint, expected.checkpoint);
      const evidence = members.length > 0 ? { members } : {};
      if (!carriesRight(stored, expected)) return [['CHECKPOINT_OUTPUT_WRONG', evidence]];
      return members.length > 0 ? [['CHECKPOINT_DIFFERENT', evidence]] : [];
    },
    // A checkpoint can be rebuilt if it has no output, or if the same output is stored elsewhere.
    isHealable: (code, expected) =>
      code === 'CHECKPOINT_DIFFERENT' ||
      !expected?.output ||
      expected.output.text !== undefined ||
      outputs.has(expected.output.sha ?? ''),
    mayBeLater: ({ id }) => !journal.isEndCertain && !(Number(id) <= head),
  };
  const problems = compare(kind, { found, expected: journal.checkpoints, head });
  for (const { id, sha } of origins) {
    const takenOver = journal.checkpoints.get(id)?.takenOver;
    if (!takenOver || takenOver.sha === sha) continue;
    const { runId, checkpoint } = takenOver.from;
    problems.push(unhealable('ORIGIN_LOST', checkpointPath(id), { runId, checkpoint }));
  }
  for (const { id, ...evidence } of payloads) {
    problems.push(unhealable('PAYLOAD_DAMAGED', checkpointPath(id), evidence));
  }
  return problems;
}

/** True unless the journal contradicts the output. */
export function carriesRight(
  { checkpoint, outputSha }: FoundCheckpoint,
  { output }: ExpectedCheckpoint,
): boolean {
  const there = [outputSha, checkpoint.outputRef?.sha256].filter((sha) => sha !== undefined);
  if (!output) return there.length === 0;
  return there.length === 1 && (output.sha === undefined || there[0] === output.sha);
}

/** Checkpoints that hold an output as it was recorded, by its hash. */
export function outputsOf({ checkpoints, payloads }: RunAsFound): ReadonlyMap<string, FoundCheckpoint> {
  const damaged = new Set(payloads.map(({ sha256 }) => sha256));
  const outputs = new Map<string, FoundCheckpoint>();
  for (const found of checkpoints) {
    if (found.kind !== 'sound' || found.id !== idOf(found.value)) continue;
    const { outputSha, checkpoint } = found.value;
    const referred = checkpoint.outputRef?.sha256;
    if (outputSha !== undefined) outputs.set(outputSha, found.value);
    else if (referred !== undefined && !damaged.has(referred)) outputs.set(referred, found.value);
  }
  return outputs;
}

/** The id in the document, which may be damaged. */
function idOf({ checkpoint: { seq } }: FoundCheckpoint): string | undefined {
  return Number.isSafeInteger(seq) && seq > 0 ? seqId(seq) : undefined;
}

export function stepProblems({ journal, steps: found }: RunAsFound, state: RunState): ConsistencyProblem[] {
  const kind: DocumentKind<StepRecord, StepRecord> = {
    pathOf: inFolder('steps'),
    missing: () => ['STEP_MISSING'],
    unreadable: 'STEP_UNREADABLE',
    orphaned: 'STEP_ORPHANED',
    differences(record, expected) {
      const members = differing(record, expected);
      return members.length > 0 ? [['STEP_DIFFERENT', { members }]] : [];
    },
    mayBeLater: (one) => !journal.isEndCertain && mayBeOfLostEvent(one, state),
  };
  return compare(kind, { found, expected: journal.steps, head: state.head });
}

function mayBeOfLostEvent(found: FoundDocument<StepRecord>, { head, updatedAt }: RunState): boolean {
  if (found.kind !== 'sound' || !isNamedRightly(found.id, found.value)) return false;
  const { updatedAtMs, checkpoint = 0 } = found.value;
  return !(updatedAtMs < updatedAt && checkpoint <= head);
}

/** False for a document under the name of another step: no event wrote it, or the name in it is damaged. */
function isNamedRightly(documentId: string, { id }: StepRecord): boolean {
  try {
    return encodeKey(id) === documentId;
  } catch {
    return false;
  }
}
