/**
 * Keeps the secret members of a run's input out of all that a dispatch records and logs: errors, reasons, questions and lines of the
 * process log. Costs nothing where the input has none.
 */
import type { Json } from '../../../core/encoding/json.ts';
import { maskedValue, maskOf, secretTexts } from '../../../core/logs/secrets.ts';
import { messageOf, readable, stackOf } from '../../../core/thrown.ts';
import type { RunJournal } from '../../../journal/run-journal.ts';
import type { Log, LogFields } from '../../../ports/log.ts';
import type { Workflow } from '../../define/steps.ts';
import type { EngineDeps } from '../../deps.ts';
import type { BodyReport } from './body-report.ts';

interface Driven {
  readonly deps: EngineDeps;
  readonly journal: RunJournal;
  readonly workflow: Pick<Workflow, 'secretInput'>;
  /** With its secret members. */
  readonly input: unknown;
  readonly report: BodyReport;
}

/** The same, with dependencies that mask the secrets of the input. Begins the lines of the bodies. */
export function withoutSecrets<P extends Driven>(params: P): P {
  const { deps, journal, workflow, input, report } = params;
  const secrets = secretTexts(input, workflow.secretInput);
  report.log.begin(journal.state.epoch, secrets);
  const masked = maskOf(secrets);
  return masked ? { ...params, deps: { ...deps, masked, log: maskedLog(deps.log, masked) } } : params;
}

type Masked = (text: string) => string;

/**
 * The error that ends a dispatch, or one of the same class with masked texts: it is recorded, logged, traced and named by those who
 * do not know the input. The cause is left out.
 */
export function maskedError(
  thrown: unknown,
  { workflow, input }: Pick<Driven, 'workflow' | 'input'>,
): unknown {
  const masked = maskOf(secretTexts(input, workflow.secretInput));
  if (!masked) return thrown;
  const error = readable(thrown);
  if (!(error instanceof Error)) return typeof error === 'string' ? masked(error) : error;
  const [message, stack] = [messageOf(error), stackOf(error) ?? ''];
  const shown = { message: masked(message), stack: masked(stack) };
  if (shown.message === message && shown.stack === stack) return error;
  return Object.create(error, {
    message: { value: shown.message },
    stack: { value: shown.stack },
    cause: { value: undefined },
  });
}

function maskedLog(log: Log, masked: Masked): Log {
  return {
    debug: (event, fields) => log.debug(event, fields && maskedFields(fields, masked)),
    info: (event, fields) => log.info(event, fields && maskedFields(fields, masked)),
    warn: (event, fields) => log.warn(event, fields && maskedFields(fields, masked)),
    error: (event, fields) => log.error(event, fields && maskedFields(fields, masked)),
  };
}

/** A field that cannot be looked through says so instead: it may hold a secret. */
function maskedFields(fields: LogFields, masked: Masked): LogFields {
  const shown: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) {
    try {
      const text = JSON.stringify(fields[name], (_name, value: unknown) => plain(value));
      if (text !== undefined) shown[masked(name)] = maskedValue(JSON.parse(text) as Json, masked);
    } catch (error) {
      shown[masked(name)] = masked(messageOf(error));
    }
  }
  return shown;
}

function plain(value: unknown): unknown {
  if (value instanceof Error) return stackOf(value) ?? messageOf(value);
  return typeof value === 'bigint' ? String(value) : value;
}
