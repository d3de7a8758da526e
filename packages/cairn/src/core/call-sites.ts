/**
 * Reads the calls on V8's stack. Changes `Error.prepareStackTrace`, a process-wide setting, so no other code may read a stack at
 * the same time.
 *
 * Must not: leave the setting changed.
 */

type Below = Parameters<typeof Error.captureStackTrace>[1];

/** Reads the callers of `below`; by default the caller and its callers. Undefined if the setting cannot be replaced. */
export function readCallSites<T>(
  read: (sites: readonly NodeJS.CallSite[]) => T,
  below: Below = readCallSites,
): T | undefined {
  const { prepareStackTrace } = Error;
  let result: T | undefined;
  try {
    Error.prepareStackTrace = (_, sites) => {
      result = read(sites);
    };
    const holder: { stack?: unknown } = {};
    Error.captureStackTrace(holder, below);
    // The stack is prepared when it is first read.
    void holder.stack;
    return result;
  } finally {
    if (prepareStackTrace === undefined) Reflect.deleteProperty(Error, 'prepareStackTrace');
    else Error.prepareStackTrace = prepareStackTrace;
  }
}
