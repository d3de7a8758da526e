/** Structured logging. Event names are those of the specification if it has one (`run_created` …). */
import type { RunState } from '../core/run/state.ts';

export type LogFields = { readonly [name: string]: unknown };

export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

/** Fields of every log line about a run, by which lines are found: run, tenant and trace. */
export function ofRun({ id, tenantId, traceId }: Pick<RunState, 'id' | 'tenantId' | 'traceId'>): LogFields {
  return { runId: id, tenantId, traceId };
}
