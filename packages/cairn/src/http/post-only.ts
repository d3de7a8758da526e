/** Guard of an endpoint with one path and only POST, such as a webhook. */
import { CairnError } from '../core/errors.ts';
import { assertHead } from './head-limits.ts';
import { methodNotAllowed } from './problem.ts';

/**
 * @param path behind Firebase Hosting, which forwards the full path; the function's own URL has the path `/`
 *
 * @throws CairnError URI_TOO_LONG, HEADERS_TOO_LARGE, NOT_FOUND, METHOD_NOT_ALLOWED
 */
export function assertPostTo(path: string, request: Request): void {
  assertHead(request);
  const { pathname } = new URL(request.url);
  if (pathname !== '/' && pathname !== path) throw new CairnError('NOT_FOUND', 'no such resource');
  if (request.method !== 'POST') throw methodNotAllowed(request.method, ['POST']);
}
