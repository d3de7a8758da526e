/**
 * One signal for the whole process, aborted when the platform asks it to end. Dispatches then release their runs; the
 * host of the functions waits for the requests in progress (ten seconds at most) and ends the process.
 *
 * Must not: end the process itself, because that would interrupt a dispatch before its release is written.
 */
const controller = new AbortController();

process.once('SIGTERM', () => controller.abort(new Error('the instance is shutting down')));

export const shutdown: AbortSignal = controller.signal;
