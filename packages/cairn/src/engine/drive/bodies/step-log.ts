/** The `log` of a body: writes each line to the log of the process, and stores it for the run. */
import { KEPT_LEVELS, type LogLevel } from '../../../core/logs/line.ts';
import type { LogFields } from '../../../ports/log.ts';
import type { StepLog } from '../../define/log.ts';
import type { EngineDeps } from '../../deps.ts';
import type { KeepLine } from './run-log.ts';

export interface StepLogParams {
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
