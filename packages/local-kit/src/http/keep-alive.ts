/**
 * Time an idle connection of the local servers is kept open: longer than clients keep it, so that none is closed under
 * a request being sent.
 */
export const KEEP_ALIVE_MS = 75_000;
