/**
 * One signal for the whole process: aborted when the platform asks it to end. Drives then release their runs; the
 * host of the functions waits for the requests in hand (ten seconds at most) and ends the process.
 *
 * Must not: end the process itself, or a dispatch would be cut before its release is written.
 */
const controller = new AbortController();

process.once('SIGTERM', () => controller.abort(new Error('the instance is shutting down')));

export const shutdown: AbortSignal = controller.signal;
