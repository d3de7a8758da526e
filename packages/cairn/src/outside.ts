/** `cairn/outside`: classifies failed HTTP requests for bindings of your own capabilities. */
export { retryAfter } from './capabilities/retry-after.ts';
export { wasNeverSent } from './capabilities/unsent.ts';
