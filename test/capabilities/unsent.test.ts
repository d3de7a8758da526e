import { expect, test } from '@jest/globals';
import { wasNeverSent } from '../../packages/cairn/src/capabilities/unsent.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED'), {
  code: 'ECONNREFUSED',
  syscall: 'connect',
});
const unknownName = Object.assign(new Error('getaddrinfo ENOTFOUND'), { syscall: 'getaddrinfo' });
const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });
const pipe = Object.assign(new Error('write EPIPE'), { code: 'EPIPE', syscall: 'write' });
const failed = (cause: unknown) => new TypeError('fetch failed', { cause });
const both = (...errors: unknown[]) => failed(new AggregateError(errors));

test.each([
  ['a refused connection', failed(refused), true],
  ['a name that nobody knows', failed(unknownName), true],
  ['a connection that took too long to make', failed({ code: 'UND_ERR_CONNECT_TIMEOUT' }), true],
  ['a refusal at all addresses of a name', both(refused, refused), true],
  ['a refusal deeper down', new Error('', { cause: failed(refused) }), true],
  ['a connection that broke', failed(reset), false],
  ['a pipe that broke', failed(pipe), false],
  ['a refusal at one address, and a connection that broke at the other', both(refused, reset), false],
  ['no address at all', both(), false],
  ['an answer that took too long', failed({ code: 'UND_ERR_HEADERS_TIMEOUT' }), false],
  ['an abort', new DOMException('', 'AbortError'), false],
  ['a failure without a cause', failed(undefined), false],
  ['what is no error', 'ECONNREFUSED', false],
  ['nothing', undefined, false],
])('of %s: nothing was sent is %s', (_what, error, expected) => {
  expect(wasNeverSent(error)).toBe(expected);
});

test('a circular chain of causes ends', () => {
  const error = new Error('a');
  error.cause = error;
  expect(wasNeverSent(error)).toBe(false);
});
