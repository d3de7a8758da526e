/** Structured logging. Event names are those of the source texts where they have one (`run_created` …). */
export type LogFields = { readonly [name: string]: unknown };

export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}
