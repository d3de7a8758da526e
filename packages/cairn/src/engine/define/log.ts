/** Log lines of bodies and of flow code. Types only. */

/** A line with its fields. What is an error becomes its stack; what JSON cannot carry never costs the line. */
export type WriteLine = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

/**
 * Writes a structured line with run, step and attempt to the log of the process, and keeps it beside the run, where people with
 * access to the run read it. `log(…)` is `log.info(…)`. Lines of `debug` are not kept.
 */
export interface StepLog extends WriteLine {
  readonly debug: WriteLine;
  readonly info: WriteLine;
  readonly warn: WriteLine;
  readonly error: WriteLine;
}
