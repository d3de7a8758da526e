/** Commands that settle an open wait. Pure. */
import type { Answer } from 'cairn/api/calls';
import { stepKey } from '../step-key.ts';

type ExplainedWait = Answer<'Run'>['waits'][number];

/** A command that lets a waiting run continue. */
export interface ExplainedMove {
  /** Arguments of `cairn`, not quoted. */
  readonly words: readonly string[];
  /** Effect of the command, or the placeholder to replace. */
  readonly what: string;
}

/** Meaning of the decisions for an interrupted step. */
export const DOUBT_DECISIONS = 'runs it again; waive: it is done; reject: it fails; halt: the run ends';

/** Meaning of the decisions for a run that has reached its budget. */
export const BUDGET_DECISIONS = 'raises the budget, see --raise; reject: the step fails; halt: the run ends';

const APPROVAL_DECISIONS = 'or waive, send-back, reject, halt';

/** By purpose. */
const DECISIONS: Readonly<Partial<Record<string, string>>> = {
  doubt: DOUBT_DECISIONS,
  budget: BUDGET_DECISIONS,
};

/** The reason why a decision is refused where {@link needsDecision} holds and the version is missing. */
export const UNDECIDABLE =
  'The version of the run is not deployed as it was when the run started, so no decision is accepted.';

/** True for a question whose decision needs the deployed version of the run. Resolving an effect does not. */
export function needsDecision({ kind, effectId }: Pick<ExplainedWait, 'kind' | 'effectId'>): boolean {
  return kind === 'approval' && effectId === undefined;
}

/** Undefined if only time ends the wait. */
export function moveOf(runId: string, wait: ExplainedWait): ExplainedMove | undefined {
  const { kind, purpose, name = '', key = '', child, effectId } = wait;
  if (effectId !== undefined)
    return {
      words: ['effects', 'resolve', runId, effectId, 'recorded'],
      what: 'records a result; re-execute: allows the call; failed: the step fails',
    };
  switch (kind) {
    case 'approval':
      return {
        words: [
          ...['runs', 'approve', runId, stepKey(wait.execution)],
          ...(wait.dataSchema === undefined ? [] : ['--data', 'JSON']),
        ],
        what: DECISIONS[purpose ?? ''] ?? APPROVAL_DECISIONS,
      };
    case 'event':
      return { words: ['events', 'send', name, key, '--data', 'JSON'], what: 'send the event' };
    case 'child':
      return child && { words: ['explain', child.runId], what: 'see why the child run is where it is' };
    default:
      return undefined;
  }
}
