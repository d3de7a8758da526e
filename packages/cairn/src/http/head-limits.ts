/**
 * Limits of the URL and headers of a request, checked before anything else, so that no endpoint processes, logs or
 * stores oversized requests.
 *
 * Must not: know what a URL or a header means.
 */
import { CairnError } from '../core/errors.ts';

/** Path and query. The longest legitimate ones are a page with a cursor and all filters, about 4,000. */
export const MAX_URL_CHARS = 8_000;
/** Legitimate requests have about thirty, including those that proxies add. */
export const MAX_HEADERS = 100;
/** Largest header with its name. The largest one in use is an ID token, below 4 KiB. */
export const MAX_HEADER_BYTES = 8 * 1024;
/**
 * Largest total of headers on the wire. Above 16 KiB, including the first line, Node's server answers 431 without a body.
 * This smaller limit gives an error text.
 */
export const MAX_HEADERS_BYTES = 14 * 1024;

/** `: ` and the end of the line. */
const PUNCTUATION_BYTES = 4;

/** @throws CairnError URI_TOO_LONG, HEADERS_TOO_LARGE with the name of the header if a single one is too large */
export function assertHead({ url, headers }: Request): void {
  const { pathname, search } = new URL(url);
  if (pathname.length + search.length > MAX_URL_CHARS)
    throw new CairnError('URI_TOO_LONG', `path and query are longer than ${MAX_URL_CHARS} characters`);
  let count = 0;
  let bytes = 0;
  // Each character of a header value is one byte.
  for (const [name, value] of headers) {
    const own = name.length + value.length + PUNCTUATION_BYTES;
    if (own > MAX_HEADER_BYTES) {
      const field = name.slice(0, 100);
      throw new CairnError(
        'HEADERS_TOO_LARGE',
        `the header ${field} is larger than ${MAX_HEADER_BYTES} bytes`,
        { field },
      );
    }
    count += 1;
    bytes += own;
  }
  if (count > MAX_HEADERS)
    throw new CairnError('HEADERS_TOO_LARGE', `there are more than ${MAX_HEADERS} headers`);
  if (bytes > MAX_HEADERS_BYTES)
    throw new CairnError('HEADERS_TOO_LARGE', `the headers are larger than ${MAX_HEADERS_BYTES} bytes`);
}
