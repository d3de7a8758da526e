/**
 * What becomes of a rejection that nobody handles: a body forgot an `await`. Node, and Google's functions framework, would
 * end the instance for it, and with it the drives of all runs there. As the run at fault begins again with the others, that
 * goes on until all of them have lost their worker too often and are given up, for one's mistake. A rejected promise
 * leaves the process as sound as it was, so it is told of, and the work goes on.
 *
 * Must not: keep an instance alive after an exception that nobody caught: then nobody knows what state it is in.
 */
import { messageOf, stackOf } from '../core/thrown.ts';
import type { Log } from '../ports/log.ts';

/** In place of whoever listened before. Call it with the first work of an instance: by then the framework listens. */
export function surviveRejections(log: Log): void {
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', (reason) =>
    log.error('rejection_unhandled', {
      error: stackOf(reason) ?? messageOf(reason),
      help: 'Unhandled promise rejection. Await the promise.',
    }),
  );
}
