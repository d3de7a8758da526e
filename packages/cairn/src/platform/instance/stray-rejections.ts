/**
 * Handler of unhandled rejections, such as a forgotten `await`. By default Node and the functions framework end the
 * instance, which interrupts all its runs; the run at fault would start again with the others, until all of them fail.
 * A rejected promise leaves the process sound, so it is logged and the work continues.
 *
 * Must not: keep an instance alive after an uncaught exception, whose state is unknown.
 */
import { messageOf, stackOf } from '../../core/thrown.ts';
import type { Log } from '../../ports/log.ts';

/** Replaces earlier listeners. Call it with the first work of an instance: by then the framework listens. */
export function surviveRejections(log: Log): void {
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', (reason) =>
    log.error('rejection_unhandled', {
      error: stackOf(reason) ?? messageOf(reason),
      help: 'Unhandled promise rejection. Await the promise.',
    }),
  );
}
