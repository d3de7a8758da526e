/** Logs an exception that a function throws, and answers the request. */
import type { ServerResponse } from 'node:http';
import { refuse } from '@cairn/local-kit/http/problem';

export function answerUncaught(error: unknown, response: ServerResponse): void {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  refuse(response, 500, 'the function threw an uncaught exception');
}
