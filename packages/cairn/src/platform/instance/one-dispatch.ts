/**
 * Ends an instance of the function for suspects after one dispatch. A leftover of a body (such as a timer that throws) could
 * otherwise crash the instance while it serves another run, and the crash would count against that run. Node reports each
 * request before the framework receives it, and the response is complete when it is closed.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { exit } from './exit.ts';

/** Names of these functions: `driveAlone`, or one of a class of workflows, such as `driveVideoAlone`. */
const ALONE = /^drive\w*Alone$/;

/**
 * Must be called once, when the functions are loaded. Does nothing outside an instance of such a function: the local cloud ends its
 * workers itself, and the emulators run all functions in one process.
 *
 * @param memberOf returns Cairn's function of this name, whose parts are joined by dashes; undefined: another function of the codebase
 */
export function endAfterDispatch(
  memberOf: (name: string) => string | undefined,
  end: () => void = () => exit(0),
): void {
  const { FUNCTION_TARGET: target, FUNCTIONS_EMULATOR: isEmulated, CAIRN_LOCAL: isLocal } = process.env;
  if (target === undefined || isEmulated !== undefined || isLocal !== undefined) return;
  subscribe('http.server.request.start', (message) => {
    if (!ALONE.test(memberOf(target.replaceAll('.', '-')) ?? '')) return;
    // The framework must first see that the response is closed.
    (message as { response: ServerResponse }).response.once('close', () => setImmediate(end));
  });
}
