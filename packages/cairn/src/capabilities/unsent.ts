/** Recognizes failures of `fetch` after which the receiver cannot have received any part of the request. */

/** System calls that fail during the address lookup or while connecting. */
const BEFORE_SENDING: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo']);
/** Depth to which the causes of an error are searched. */
const MAX_DEPTH = 5;

/** False unless it is certain: a connection that broke may have transmitted the request. */
export function wasNeverSent(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > MAX_DEPTH) return false;
  const { errors, syscall, code, cause } = error as Readonly<Record<string, unknown>>;
  // Connecting failed for all addresses of a name.
  if (Array.isArray(errors) && errors.length > 0)
    return errors.every((one: unknown) => wasNeverSent(one, depth + 1));
  if (BEFORE_SENDING.has(syscall) || code === 'UND_ERR_CONNECT_TIMEOUT') return true;
  return wasNeverSent(cause, depth + 1);
}
