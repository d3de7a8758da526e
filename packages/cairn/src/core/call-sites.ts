/**
 * Calls on the stack, as V8 has them. Nothing else may read a stack meanwhile: how stacks are prepared is a setting of the process.
 *
 * Must not: leave the setting changed.
 */

type Below = Parameters<typeof Error.captureStackTrace>[1];

/**
 * Reads the calls around that of `below`; by default the caller and those around it. Undefined if the process prepares stacks in a way that
 * cannot be replaced.
 */
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
