/**
 * Time for which the local servers keep an idle connection open. Longer than clients keep it, so that no connection is closed
 * while a request is being sent.
 */
export const KEEP_ALIVE_MS = 75_000;
