/**
 * The `log` of a flow's code. The code runs again after a wait: lines before its first new operation were kept when they were
 * first logged, and are not kept again.
 */
import type { StepExecution } from '../../../core/run/events.ts';
import type { StepLog } from '../../define/log.ts';
import { stepLog } from '../bodies/step-log.ts';
import type { Working } from '../working.ts';
import type { KnownOperation } from './operations-of.ts';

interface FlowOperations {
  /** Operations in the journal. */
  readonly known: readonly KnownOperation[];
  /** Names of those that the code has asked for. */
  readonly asked: ReadonlySet<string>;
}

export function flowLog(
  { deps, runId, report }: Working,
  { stepId, revision, attempt }: StepExecution,
  { known, asked }: FlowOperations,
): StepLog {
  const keep = report.log.of({ step: stepId, revision, attempt });
  let passed = 0;
  return stepLog({
    deps,
    about: { runId, stepId },
    keep: (line) => {
      while (asked.has(known[passed]?.name ?? '')) passed += 1;
      if (passed === known.length) keep(line);
    },
  });
}
