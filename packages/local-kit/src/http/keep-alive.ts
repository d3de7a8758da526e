/**
 * How long the servers of the local cloud keep a connection that is not used: longer than their clients do, so that none is
 * closed under a request that is just being sent.
 */
export const KEEP_ALIVE_MS = 75_000;
