/** The `log` of a body and of a flow's code: writes each line to the log of the process, and stores it for the run. */
import { KEPT_LEVELS, type LogLevel } from '../../../core/logs/line.ts';
import type { StepExecution } from '../../../core/run/events.ts';
import type { LogFields } from '../../../ports/log.ts';
import type { StepLog } from '../../define/log.ts';
import type { EngineDeps } from '../../deps.ts';
import type { DispatchState } from '../dispatch-state.ts';
import type { KnownOperation } from '../flows/known-operations.ts';
import type { KeepLine } from './run-log.ts';

interface StepLogParams {
  readonly deps: Pick<EngineDeps, 'log' | 'clock'>;
  /** Run, step and attempt: a field of the line does not replace them. */
  readonly about: LogFields;
  readonly keep: KeepLine;
}

export function stepLog({ deps, about, keep }: StepLogParams): StepLog {
  const line = (level: LogLevel) => (message: string, fields?: LogFields) => {
    deps.log[level]('step_log', { ...fields, message, ...about });
    const keptLevel = KEPT_LEVELS.find((one) => one === level);
    if (keptLevel) keep({ at: deps.clock.now(), level: keptLevel, message, fields });
  };
  const info = line('info');
  return Object.assign((message: string, fields?: LogFields) => info(message, fields), {
    debug: line('debug'),
    info,
    warn: line('warn'),
    error: line('error'),
  });
}

interface FlowOperations {
  /** Operations in the journal. */
  readonly known: readonly KnownOperation[];
  /** Names of those that the code has asked for. */
  readonly requested: ReadonlySet<string>;
}

/**
 * The `log` of a flow's code. The code runs again after a wait: lines before its first new operation were kept when they were
 * first logged, and are not kept again.
 */
export function flowLog(
  { deps, runId, run: { report } }: DispatchState,
  { stepId, revision, attempt }: StepExecution,
  { known, requested }: FlowOperations,
): StepLog {
  const keep = report.log.of({ step: stepId, revision, attempt });
  let passed = 0;
  return stepLog({
    deps,
    about: { runId, stepId },
    keep: (line) => {
      while (requested.has(known[passed]?.name ?? '')) passed += 1;
      if (passed === known.length) keep(line);
    },
  });
}
