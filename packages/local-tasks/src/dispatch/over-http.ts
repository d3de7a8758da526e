/** Sends a task to a URL outside this host, once, over HTTP or HTTPS. */
import { request as overHttps } from 'node:https';
import { request as overHttp } from '@cairn/local-kit/http/node-http';
import type { DispatchRequest, DispatchResult } from './attempt.ts';

export function dispatchOverHttp({
  url,
  method,
  headers,
  body,
  signal,
}: DispatchRequest): Promise<DispatchResult> {
  return new Promise((resolve) => {
    const send = url.startsWith('https:') ? overHttps : overHttp;
    const outgoing = send(url, { method, headers: { ...headers, 'content-length': body.length }, signal });
    const unreachable = (error: Error) => resolve({ kind: 'unreachable', reason: error.message });
    outgoing.on('error', unreachable);
    outgoing.on('response', (answer) => {
      const { statusCode: status = 502, headers: answered } = answer;
      answer.resume();
      answer.on('end', () => resolve({ kind: 'answered', status, retryAfter: answered['retry-after'] }));
      answer.on('error', unreachable);
    });
    outgoing.end(body);
  });
}
