/** Sends a request of any size, to any function, to a worker by HTTP. */
import type { Agent, ClientRequest } from 'node:http';
import { request } from '@cairn/local-kit/http/node-http';
import type { InFlightRequest, OutgoingRequest, RequestLine } from './request.ts';

/**
 * Resolves once connected, or with the reason if it cannot connect; then nothing was sent. Releases the worker when the request
 * ends.
 *
 * @throws TypeError for a path or header that HTTP cannot carry
 */
export async function sendByHttp(
  agent: Agent,
  { lease, line, body, receiver }: OutgoingRequest,
): Promise<InFlightRequest | { readonly refused: NodeJS.ErrnoException }> {
  const outgoing = requestOf(agent, line, lease);
  const refused = await connectionFailure(outgoing);
  if (refused !== undefined) return { refused };
  // Includes aborts by this process, because checking the worker is cheaper than distinguishing the cases.
  outgoing.once('error', lease.broken);
  let resume = () => {};
  outgoing.on('response', (answer) => {
    resume = () => answer.resume();
    receiver.onHead(answer.statusCode ?? 502, answer.headers);
    answer.on('data', (chunk: Buffer) => {
      if (!receiver.onData(chunk)) answer.pause();
    });
    answer.on('end', () => receiver.onEnd());
    answer.on('error', ({ message }) => receiver.onFailure(message));
  });
  outgoing.on('error', ({ message }) => receiver.onFailure(message));
  if (body instanceof Uint8Array) outgoing.end(body);
  else body.pipe(outgoing);
  return { abort: () => outgoing.destroy(), resume: () => resume() };
}

function requestOf(
  agent: Agent,
  { name, path, method, headers }: RequestLine,
  lease: OutgoingRequest['lease'],
): ClientRequest {
  try {
    const target = { agent, host: '127.0.0.1', port: lease.port };
    const outgoing = request({ ...target, path: `/${name}${path}`, method, headers });
    outgoing.once('close', lease.release);
    return outgoing;
  } catch (error) {
    lease.release();
    throw error;
  }
}

/** Undefined once connected; later errors go to the listeners of the request. */
function connectionFailure(outgoing: ClientRequest): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    outgoing.once('error', resolve);
    outgoing.once('socket', (socket) => {
      if (socket.connecting) socket.once('connect', () => resolve(undefined));
      else resolve(undefined);
    });
  });
}
