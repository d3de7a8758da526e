/** Structured logging. Event names are those of the source texts where they have one (`run_created` …). */
import type { RunState } from '../core/run/state.ts';

export type LogFields = { readonly [name: string]: unknown };

export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

/** Log fields of every line about a run, by which it is found: run, tenant and trace. */
export function ofRun({ id, tenantId, traceId }: Pick<RunState, 'id' | 'tenantId' | 'traceId'>): LogFields {
  return { runId: id, tenantId, traceId };
}
