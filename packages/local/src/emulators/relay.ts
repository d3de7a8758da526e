/**
 * Serves `/{function name}/{path}` like a worker of the local cloud, through firebase-tools' functions emulator. Owns the
 * differences between the two: the path of a function, and the event that is made of a message.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { KEEP_ALIVE_MS } from '@cairn/local-kit/http/keep-alive';
import { createServer, request } from '@cairn/local-kit/http/node-http';
import { refuse } from '@cairn/local-kit/http/problem';
import { withoutHopHeaders } from '../host/forward.ts';
import { cloudEventOf, type Push } from '../host/pubsub/message-handler.ts';
import { splitPath } from '../host/request-shape.ts';
import type { Discovered } from './discovery.ts';

/** Twice the limit of the front, whose added headers must not make an accepted request too large. */
const MAX_HEAD_BYTES = 32 * 1024;

/** @param port of the emulator */
export function relay(functions: ReadonlyMap<string, Discovered>, port: number): Server {
  const server = createServer({ maxHeaderSize: MAX_HEAD_BYTES }, (incoming, response) => {
    const { name, rest } = splitPath(incoming.url ?? '/');
    const found = functions.get(name);
    if (found === undefined) return refuse(response, 404, `no function named '${name}'`);
    const { spec, path } = found;
    if (spec.trigger.kind === 'message')
      void message({ incoming, response, port, path, topic: spec.trigger.topic });
    else incoming.pipe(send({ incoming, response, port, path: path + rest }));
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.requestTimeout = 0;
  return server;
}

interface RelayedExchange {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly port: number;
  readonly path: string;
}

/** Starts the request to the emulator and pipes its answer into our response. The caller sends the body. */
function send(
  { incoming, response, port, path }: RelayedExchange,
  headers: Record<string, string | number> = {},
) {
  const outgoing = request({
    host: '127.0.0.1',
    port,
    path,
    method: incoming.method,
    headers: { ...withoutHopHeaders(incoming.headers), ...framing(incoming), ...headers },
  });
  outgoing.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, withoutHopHeaders(answer.headers));
    answer.pipe(response);
    answer.on('error', () => response.destroy());
  });
  outgoing.on('error', (error) => refuse(response, 503, `firebase-tools failed: ${error.message}`));
  response.once('close', () => outgoing.destroy());
  return outgoing;
}

/** Header without which Node frames no body of a GET or DELETE. */
const framing = (incoming: IncomingMessage): Record<string, string> =>
  incoming.headers['transfer-encoding'] === undefined ? {} : { 'transfer-encoding': 'chunked' };

/** Handles a push request as Eventarc does: its body becomes the data of an event. */
async function message({ topic, ...exchange }: RelayedExchange & { readonly topic: string }): Promise<void> {
  const { incoming, response } = exchange;
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const push = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Push;
    if (!push.message) return refuse(response, 400, 'not a push request of Pub/Sub');
    const body = Buffer.from(JSON.stringify(cloudEventOf(push, topic)));
    const headers = {
      'content-type': 'application/cloudevents+json; charset=UTF-8',
      'content-length': body.length,
    };
    send(exchange, headers).end(body);
  } catch (error) {
    refuse(response, 400, `not a push request of Pub/Sub: ${String(error)}`);
  }
}
