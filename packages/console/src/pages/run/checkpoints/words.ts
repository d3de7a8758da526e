/** Description of a checkpoint, and pairs that can be compared. Pure. */
import { stepKey } from '@cairn/client';
import type { Answer } from '../../../api/client.ts';

export type CheckpointView = Answer<'Checkpoint'>;

export function checkpointStepKey({ stepId, itemKey }: CheckpointView): string | undefined {
  return stepId === undefined ? undefined : stepKey({ stepId, itemKey });
}

const BOUNDARIES: Readonly<Record<CheckpointView['boundary'], string>> = {
  run_created: 'the run was created',
  run_started: 'the run started',
  step_completed: 'a step ended',
  suspended: 'the run started to wait',
  run_finished: 'the run ended',
};

export function boundaryWords({ boundary }: CheckpointView): string {
  return BOUNDARIES[boundary];
}

export function hasOutput({ output, outputRef, outputFrom }: CheckpointView): boolean {
  return output !== undefined || outputRef !== undefined || outputFrom !== undefined;
}

/** `1,234 in · 56 out` */
export function tokenWords({ tokensUsed }: CheckpointView): string | undefined {
  if (!tokensUsed) return undefined;
  return `${tokensUsed.input.toLocaleString('en')} in · ${tokensUsed.output.toLocaleString('en')} out`;
}

/** Others of the same step that have an output, the newest first. */
export function comparableTo(
  checkpoint: CheckpointView,
  all: readonly CheckpointView[],
): readonly CheckpointView[] {
  const key = checkpointStepKey(checkpoint);
  if (key === undefined) return [];
  return all
    .filter((other) => other.seq !== checkpoint.seq && checkpointStepKey(other) === key && hasOutput(other))
    .reverse();
}

/** Outputs to compare, as in the address: `12..20`, `source..20`. */
export interface ComparedOutputs {
  /** Seq of a checkpoint of this run; `source`: that of the same step in the run's source. */
  readonly before: number | 'source';
  readonly after: number;
}

const COMPARED = /^(source|[1-9]\d{0,9})\.\.([1-9]\d{0,9})$/;

export function comparedOf(word: string | undefined): ComparedOutputs | undefined {
  const [, before, after] = COMPARED.exec(word ?? '') ?? [];
  if (before === undefined || after === undefined) return undefined;
  return { before: before === 'source' ? before : Number(before), after: Number(after) };
}

export function comparedWord({ before, after }: ComparedOutputs): string {
  return `${before}..${after}`;
}

/** The older one first. */
export function comparisonOf(checkpoint: CheckpointView, other: CheckpointView): ComparedOutputs {
  return { before: Math.min(checkpoint.seq, other.seq), after: Math.max(checkpoint.seq, other.seq) };
}
