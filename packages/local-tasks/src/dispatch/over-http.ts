/** Sends a task to a URL outside this host, once, over HTTP or HTTPS. */
import { request as overHttps } from 'node:https';
import { request as overHttp } from '@cairn/local-kit/http/node-http';
import type { DispatchRequest, DispatchResult } from './attempt.ts';

/** Largest response of a Google function. The rest is not read, because only the status matters. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

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
      const settle = () => resolve({ kind: 'answered', status, retryAfter: answered['retry-after'] });
      let bytes = 0;
      answer.on('data', (piece: Buffer) => {
        bytes += piece.length;
        if (bytes <= MAX_ANSWER_BYTES) return;
        settle();
        outgoing.destroy();
      });
      answer.on('end', settle);
      answer.on('error', unreachable);
    });
    outgoing.end(body);
  });
}
