/** Bounds of the requests that an instance of `api` handles at a time, in all and of one tenant. Those of one request are in `route.ts`. */

/** Default concurrency of an instance with a whole CPU on Google's platform. */
export const API_CONCURRENCY = 80;

/** Starts with up to 32 MiB on an instance of 1 GiB. Handling one takes 450 MiB (measured). */
export const LARGE_STARTS = { of: 'large starts', running: 1, waiting: 3 };
/**
 * Starts with 256 KiB to 1 MiB, of which a processor takes 20 to 80 ms for each. One tenant has three at a time, so that others still get
 * most of the processor. An instance has no more requests than may wait.
 */
export const MEDIUM_STARTS = { of: 'starts', running: 4, waiting: 2 * API_CONCURRENCY };
/** Besides that start, two reads of 32 MiB, at about 100 MiB each, one of a tenant. A request that waits for its turn holds no memory. */
export const LARGE_READS = { of: 'reads of large outputs', running: 2, waiting: 28 };
/**
 * Requests that read many documents, which takes a processor some 50 ms each. One tenant has three at a time, so that others still get
 * most of the processor, and 60 that wait.
 */
export const LISTS = { of: 'lists', running: 4, waiting: API_CONCURRENCY };
/** Half of the concurrent requests of an instance are reserved for short requests. */
export const STREAMS = { ofAll: API_CONCURRENCY / 2, ofOneTenant: 10 };
/** On the local cloud, where tenants need no protection from each other: a program may wait for dozens of runs at once. */
export const LOCAL_STREAMS = { ofAll: 60, ofOneTenant: 60 };
