/**
 * Handles unhandled rejections, such as those of a forgotten `await`. By default Node and the functions framework end the
 * instance, which interrupts all its runs. The run that caused it would start again together with the others, until all of them fail.
 * A rejected promise does not damage the process, so it is logged and the work continues.
 *
 * Must not: keep an instance alive after an uncaught exception, whose state is unknown.
 */
import { messageOf, stackOf } from '../../core/thrown.ts';
import type { Log } from '../../ports/log.ts';

/** Replaces earlier listeners. Must be called with the first work of an instance, when the framework has added its listener. */
export function surviveRejections(log: Log): void {
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', (reason) =>
    log.error('rejection_unhandled', {
      error: stackOf(reason) ?? messageOf(reason),
      help: 'Unhandled promise rejection. Await the promise.',
    }),
  );
}
