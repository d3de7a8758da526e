/** Problems of the documents beside the journal: checkpoints with their outputs, and step records. Pure. */
import { seqId } from '../encoding/ids.ts';
import { encodeKey } from '../encoding/keys.ts';
import type { StepRecord } from '../run/records.ts';
import { messageOf } from '../thrown.ts';
import type { ExpectedCheckpoint } from './expected.ts';
import type { CheckpointFact, FoundDocument, RunFacts } from './facts.ts';
import { type Evidence, healable, type Problem, type ProblemCode, unhealable } from './problems.ts';
import { differing } from './same.ts';

export interface Judging {
  readonly facts: RunFacts;
  /** Head of the journal, and the time of its newest event. */
  readonly head: number;
  readonly lastAt: number;
  /** Something else says that the journal ends where it ends: what is later than that was never part of the run. */
  readonly vouched: boolean;
}

export function checkpointProblems(judging: Judging): Problem[] {
  const { facts, head, vouched } = judging;
  const problems: Problem[] = [];
  const seen = new Set<number>();
  const outputs = outputsOf(facts);
  for (const found of facts.checkpoints) {
    const expected = expectedAt(facts, found.id);
    const subject = `checkpoints/${found.id}`;
    if (expected) {
      seen.add(expected.checkpoint.seq);
      problems.push(...unlikeSafely(found, expected, { outputs, subject }));
    } else if (!vouched && !(Number(found.id) <= head))
      problems.push(unhealable('JOURNAL_TAIL_CUT', subject, { head }));
    else problems.push(healable('CHECKPOINT_ORPHANED', subject));
  }
  for (const [seq, expected] of facts.journal.checkpoints) {
    if (seen.has(seq)) continue;
    const code = 'CHECKPOINT_MISSING';
    problems.push(lost(code, expected, { outputs, subject: `checkpoints/${seqId(seq)}`, evidence: {} }));
  }
  for (const { id, sha } of facts.origins) {
    const takenOver = expectedAt(facts, id)?.takenOver;
    if (!takenOver || takenOver.sha === sha) continue;
    const { runId, checkpoint } = takenOver.from;
    problems.push(unhealable('ORIGIN_LOST', `checkpoints/${id}`, { runId, checkpoint }));
  }
  for (const { id, ref, reason } of facts.payloads) {
    if (reason === undefined) continue;
    problems.push(unhealable('PAYLOAD_DAMAGED', `checkpoints/${id}`, { sha256: ref.sha256, reason }));
  }
  return problems;
}

/** The checkpoint with this id that the journal implies; undefined if none. */
export function expectedAt({ journal }: RunFacts, id: string): ExpectedCheckpoint | undefined {
  const expected = journal.checkpoints.get(Number(id));
  return expected && id === seqId(expected.checkpoint.seq) ? expected : undefined;
}

interface Where {
  readonly outputs: ReadonlyMap<string, CheckpointFact>;
  readonly subject: string;
}

/** A document that was decoded may still hold anything where a value has parts. */
function unlikeSafely(
  found: FoundDocument<CheckpointFact>,
  expected: ExpectedCheckpoint,
  where: Where,
): Problem[] {
  try {
    return unlike(found, expected, where);
  } catch (error) {
    const evidence = { reason: messageOf(error) };
    return [lost('CHECKPOINT_UNREADABLE', expected, { ...where, evidence })];
  }
}

function unlike(found: FoundDocument<CheckpointFact>, expected: ExpectedCheckpoint, where: Where): Problem[] {
  const { subject } = where;
  if (found.kind === 'newer') {
    return [unhealable('NEWER_SCHEMA', subject, { schemaVersion: found.schemaVersion })];
  }
  if (found.kind === 'unreadable') {
    return [lost('CHECKPOINT_UNREADABLE', expected, { ...where, evidence: { reason: found.reason } })];
  }
  const { outputRef, ...checkpoint } = found.value.checkpoint;
  const members = differing(checkpoint, expected.checkpoint);
  if (!carriesRight(found.value, expected)) {
    const evidence = { ...(members.length > 0 ? { members } : {}) };
    return [lost('CHECKPOINT_OUTPUT_WRONG', expected, { ...where, evidence })];
  }
  return members.length > 0 ? [healable('CHECKPOINT_DIFFERENT', subject, { members })] : [];
}

/** Returns true if the output is the recorded one, as far as the journal tells. */
export function carriesRight(
  { checkpoint, outputSha }: CheckpointFact,
  { output }: ExpectedCheckpoint,
): boolean {
  const there = [outputSha, checkpoint.outputRef?.sha256].filter((sha) => sha !== undefined);
  if (!output) return there.length === 0;
  return there.length === 1 && (output.sha === undefined || there[0] === output.sha);
}

/** Something of a checkpoint is gone: it can be made again if it has no output, or if the same output is elsewhere. */
function lost(
  code: ProblemCode,
  { output }: ExpectedCheckpoint,
  { outputs, subject, evidence }: Where & { readonly evidence: Evidence },
): Problem {
  const known = !output || output.text !== undefined || outputs.has(output.sha ?? '');
  return (known ? healable : unhealable)(code, subject, evidence);
}

/** Checkpoints that hold an output as it was recorded, by its hash. */
export function outputsOf({ checkpoints, payloads }: RunFacts): ReadonlyMap<string, CheckpointFact> {
  const damaged = new Set(payloads.flatMap(({ ref, reason }) => (reason === undefined ? [] : [ref.sha256])));
  const outputs = new Map<string, CheckpointFact>();
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
function idOf({ checkpoint: { seq } }: CheckpointFact): string | undefined {
  return Number.isSafeInteger(seq) && seq > 0 ? seqId(seq) : undefined;
}

export function stepProblems(judging: Judging): Problem[] {
  const { facts } = judging;
  const problems: Problem[] = [];
  const expected = new Map([...facts.journal.steps].map(([key, record]) => [encodeKey(key), record]));
  const seen = new Set<string>();
  for (const found of facts.steps) {
    const record = expected.get(found.id);
    seen.add(found.id);
    const problem = stepProblem(found, record, judging);
    if (problem) problems.push(problem);
  }
  for (const id of expected.keys()) if (!seen.has(id)) problems.push(healable('STEP_MISSING', `steps/${id}`));
  return problems;
}

function stepProblem(
  found: FoundDocument<StepRecord>,
  expected: StepRecord | undefined,
  { head, lastAt, vouched }: Judging,
): Problem | undefined {
  const subject = `steps/${found.id}`;
  if (found.kind === 'newer') {
    return unhealable('NEWER_SCHEMA', subject, { schemaVersion: found.schemaVersion });
  }
  if (found.kind === 'unreadable') {
    const code = expected ? 'STEP_UNREADABLE' : 'STEP_ORPHANED';
    return healable(code, subject, { reason: found.reason });
  }
  const members = expected ? differing(found.value, expected) : [];
  if (expected && members.length === 0) return undefined;
  if (!vouched && mayBeOfLostEvent(found, { head, lastAt })) {
    return unhealable('JOURNAL_TAIL_CUT', subject, { head });
  }
  return expected ? healable('STEP_DIFFERENT', subject, { members }) : healable('STEP_ORPHANED', subject);
}

/** Then the journal is damaged, not the record. A document under another's name was written by no event. */
function mayBeOfLostEvent(
  { id, value }: { readonly id: string; readonly value: StepRecord },
  { head, lastAt }: Pick<Judging, 'head' | 'lastAt'>,
): boolean {
  const { updatedAtMs, checkpoint = 0 } = value;
  if (!isNamedSo(value, id)) return false;
  return !(updatedAtMs < lastAt && checkpoint <= head);
}

/** Returns true if the record has the name of its document; the name may be damaged. */
function isNamedSo({ id }: StepRecord, documentId: string): boolean {
  try {
    return encodeKey(id) === documentId;
  } catch {
    return false;
  }
}
