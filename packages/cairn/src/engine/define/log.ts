/** Log lines of bodies and of flow code. Types only. */

/**
 * Writes a line with its fields. An error is logged with its stack. A value that JSON cannot represent never prevents the line.
 */
type WriteLine = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

/**
 * Writes a structured line with run, step and attempt to the log of the process, and stores it beside the run for people with
 * access to the run. `log(…)` is `log.info(…)`. Lines of `debug` are not stored.
 */
export interface StepLog extends WriteLine {
  readonly debug: WriteLine;
  readonly info: WriteLine;
  readonly warn: WriteLine;
  readonly error: WriteLine;
}
