/**
 * REST for services whose calls have one request and one response. A request is converted to the bytes of the gRPC request and passed to the
 * same handler, so both get the same answer. Refuses web pages and callers under foreign host names.
 *
 * Must not: depend on the meaning of calls.
 */
import { EventEmitter } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type {
  handleUnaryCall,
  ServerUnaryCall,
  ServiceDefinition,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import type protobuf from 'protobufjs';
import { refusedCaller } from '../http/loopback.ts';
import { createServer } from '../http/node-http.ts';
import { answerUnreadable } from '../http/unreadable.ts';
import { GrpcRefusal, grpcStatusOf } from '../wire/grpc-refusal.ts';
import { JsonShapeError } from '../wire/proto-json.ts';
import { type JsonCall, jsonCall } from './json-call.ts';
import { type HandlerStatus, jsonStatus } from './json-status.ts';
import { restRequest } from './rest-request.ts';
import { bindingsOf, restCall } from './routes.ts';

export interface RestService {
  readonly protocol: protobuf.Service;
  /** The same service for gRPC. */
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
}

interface UnaryRestOptions {
  readonly services: readonly RestService[];
  /** Services that are loaded with their first request, by the prefix of their paths, e.g. `/v1beta1/`. */
  readonly loadedLater?: Readonly<Record<string, () => readonly RestService[]>>;
  /** Names the server in the text of a defect. */
  readonly name: string;
  readonly maxBodyBytes: number;
  /** Answers requests outside the services' API. Resolves with undefined for an unknown request. */
  readonly otherwise?: (request: IncomingMessage, path: string) => Promise<unknown>;
}

interface BoundCall {
  readonly messages: JsonCall;
  readonly handler: handleUnaryCall<object, object>;
}

/** Calls by name; names are unique in a table. */
interface RestTable {
  readonly bindings: ReturnType<typeof bindingsOf>;
  readonly calls: ReadonlyMap<string, BoundCall>;
}

function tableOf(services: readonly RestService[]): RestTable {
  const calls = new Map<string, BoundCall>();
  for (const { protocol, definition, implementation } of services) {
    for (const method of Object.keys(definition)) {
      const messages = jsonCall(method, protocol, definition);
      const handler = implementation[method] as handleUnaryCall<object, object> | undefined;
      if (messages && handler) calls.set(method, { messages, handler });
    }
  }
  return { bindings: bindingsOf(...services.map(({ protocol }) => protocol)), calls };
}

export function unaryRest(options: UnaryRestOptions): Server {
  const { services, loadedLater = {}, name, maxBodyBytes, otherwise } = options;
  const table = tableOf(services);
  const laterTables = new Map<string, RestTable>();
  const tableFor = (path: string): RestTable => {
    const prefix = Object.keys(loadedLater).find((begin) => path.startsWith(begin));
    if (prefix === undefined) return table;
    const loaded = laterTables.get(prefix) ?? tableOf(loadedLater[prefix]?.() ?? []);
    laterTables.set(prefix, loaded);
    return loaded;
  };
  const body = {
    maxBytes: maxBodyBytes,
    tooLarge: () => invalid(`Request payload size exceeds the limit: ${maxBodyBytes} bytes.`),
    malformed: (why: string) => invalid(`Invalid JSON payload received: ${why}`),
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const refused = refusedCaller(request.headers, 'no pages');
    if (refused !== undefined) throw new GrpcRefusal(status.PERMISSION_DENIED, refused);
    const url = new URL(request.url ?? '/', 'http://local');
    // Tools send this request to check that an emulator is up.
    if (request.method === 'GET' && url.pathname === '/') return 'Ok\n';
    const other = await otherwise?.(request, url.pathname);
    if (other !== undefined) return other;
    const asked = await restRequest(request, url, body);
    const { bindings, calls } = tableFor(url.pathname);
    const found = restCall(bindings, asked);
    const call = found && calls.get(found.name);
    if (!call) throw new GrpcRefusal(status.NOT_FOUND, `Nothing is served at ${asked.method} ${asked.path}.`);
    const answer = call.messages.answersIn(asked.query);
    return answer(await handled(call.handler, call.messages.request(found.message), response));
  };
  const server = createServer((request, response) => {
    answer(request, response).then(
      (body) => send(response, 200, body),
      (error: unknown) => {
        const shown = jsonStatus(
          isStatus(error)
            ? error
            : grpcStatusOf(error instanceof JsonShapeError ? invalid(error.message) : error, name),
        );
        send(response, shown.error.code, shown);
      },
    );
  });
  answerUnreadable(server);
  return server;
}

/** Rejects with the handler's status. The call is cancelled if its caller disconnects. */
function handled(
  handler: handleUnaryCall<object, object>,
  request: object,
  response: ServerResponse,
): Promise<object> {
  const call = Object.assign(new EventEmitter(), { request });
  response.once('close', () => call.emit('cancelled', 'cancelled'));
  return new Promise((resolve, reject) => {
    handler(call as unknown as ServerUnaryCall<object, object>, (failure, answer) => {
      if (failure) reject(failure as Error);
      else resolve(answer ?? {});
    });
  });
}

const isStatus = (error: unknown): error is HandlerStatus =>
  typeof error === 'object' && error !== null && 'code' in error && 'details' in error;

const invalid = (message: string) => new GrpcRefusal(status.INVALID_ARGUMENT, message);

function send(response: ServerResponse, code: number, body: unknown): void {
  const isText = typeof body === 'string';
  response.writeHead(code, {
    'content-type': isText ? 'text/plain' : 'application/json; charset=utf-8',
    // Closes the connection after an error, because the unread rest of a body would be parsed as the next request.
    ...(response.req.complete ? {} : { connection: 'close' }),
  });
  response.end(isText ? body : JSON.stringify(body));
}
