/** Limits of concurrent requests per instance of `api`, in total and per tenant. `route.ts` has the limits of one request. */

/** Default concurrency of an instance with a whole CPU on Google's platform. */
export const API_CONCURRENCY = 80;

/** Starts with up to 32 MiB on an instance of 1 GiB. Each takes 450 MiB (measured). */
export const LARGE_STARTS = { of: 'large starts', running: 1, waiting: 3 };
/**
 * Starts with 256 KiB to 1 MiB, each of which takes 20 to 80 ms of processor time. A tenant runs at most three at a time, so that others
 * still get most of the processor. The queue is longer than the number of requests that an instance accepts.
 */
export const MEDIUM_STARTS = { of: 'starts', running: 4, waiting: 2 * API_CONCURRENCY };
/** Besides that start, two reads of 32 MiB at about 100 MiB each, at most one per tenant. A waiting request holds no memory. */
export const LARGE_READS = { of: 'reads of large outputs', running: 2, waiting: 28 };
/**
 * Requests that read many documents, each of which takes about 50 ms of processor time. A tenant runs at most three at a time, so that
 * others still get most of the processor, and queues at most 60.
 */
export const LISTS = { of: 'lists', running: 4, waiting: API_CONCURRENCY };
/** Half of the concurrent requests of an instance are reserved for short requests. */
export const STREAMS = { ofAll: API_CONCURRENCY / 2, ofOneTenant: 10 };
/** On the local cloud tenants need no protection from each other, and a program may wait for dozens of runs at once. */
export const LOCAL_STREAMS = { ofAll: 60, ofOneTenant: 60 };
