/** Recognizes failures of `fetch` after which the receiver cannot have got any part of the request. */

/** Raised while the address was looked up or the connection made. */
const BEFORE_SENDING: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo']);
/** Depth to which the causes of an error are searched. */
const MAX_DEPTH = 5;

/** False wherever that is not certain: a connection that broke may have carried the request before. */
export function wasNeverSent(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > MAX_DEPTH) return false;
  const { errors, syscall, code, cause } = error as Readonly<Record<string, unknown>>;
  // All addresses of a name were tried.
  if (Array.isArray(errors) && errors.length > 0)
    return errors.every((one: unknown) => wasNeverSent(one, depth + 1));
  if (BEFORE_SENDING.has(syscall) || code === 'UND_ERR_CONNECT_TIMEOUT') return true;
  return wasNeverSent(cause, depth + 1);
}
