/** `cairn/outside`: how a binding tells what a failed HTTP request means, for capabilities of your own. */
export { retryAfter } from './capabilities/retry-after.ts';
export { wasNeverSent } from './capabilities/unsent.ts';
