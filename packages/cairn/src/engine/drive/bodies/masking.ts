/**
 * Keeps the secret members of a run's input out of all that a dispatch records and logs: errors, reasons, questions and lines
 * of the process log. Costs nothing for an input without secrets.
 */
import { type Mask, maskFields, maskOf, maskThrown, secretTexts } from '../../../core/secrets/mask.ts';
import type { Log } from '../../../ports/log.ts';
import type { LeasedRun } from '../dispatch-state.ts';

/** Returns the run with dependencies that mask the secrets of its input, and starts the log of its bodies. */
export function withoutSecrets(run: LeasedRun): LeasedRun {
  const { deps, journal, workflow, input, report } = run;
  const secrets = secretTexts(input, workflow.secretInput);
  report.log.begin(journal.state.epoch, secrets);
  const mask = maskOf(secrets);
  return mask ? { ...run, deps: { ...deps, mask, log: maskedLog(deps.log, mask) } } : run;
}

/** The error that ends a dispatch, masked, because the code that records, logs and traces it does not know the input. */
export function maskedError(
  thrown: unknown,
  { workflow, input }: Pick<LeasedRun, 'workflow' | 'input'>,
): unknown {
  const mask = maskOf(secretTexts(input, workflow.secretInput));
  return mask ? maskThrown(thrown, mask) : thrown;
}

function maskedLog(log: Log, mask: Mask): Log {
  return {
    debug: (event, fields) => log.debug(event, fields && maskFields(fields, mask)),
    info: (event, fields) => log.info(event, fields && maskFields(fields, mask)),
    warn: (event, fields) => log.warn(event, fields && maskFields(fields, mask)),
    error: (event, fields) => log.error(event, fields && maskFields(fields, mask)),
  };
}
