/** The log line for the end of a run (run lifecycle text, 7.2), written by whoever ends it: the same from a drive, recovery or a person. */
import type { RunState } from '../core/run/state.ts';
import { type Log, ofRun } from '../ports/log.ts';

export function logEnd(log: Log, state: RunState): void {
  const { type, status, durationMs } = state;
  log.info('run_completed', { ...ofRun(state), type, status, durationMs });
}
