/** Connects handlers to grpc-js: which call is served by what, errors to statuses. Knows nothing of any call's meaning. */
import {
  Metadata,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { MAX_REQUEST_BYTES } from '../../model/limits.ts';
import { Code, invalid, StatusError } from '../../model/status.ts';
import { requestBytes } from '../../wire/protocol.ts';
import { runAggregationQuery } from './aggregate.ts';
import type { CallContext, StreamHandler, UnaryHandler } from './call.ts';
import { createDocument, deleteDocument, getDocument, updateDocument } from './document.ts';
import { listCollectionIds, listDocuments } from './list.ts';
import { batchGet, runQuery } from './read.ts';
import { requestPaths } from './request-paths.ts';
import { batchWrite, beginTransaction, commit, rollback } from './write.ts';

// A handler states what it reads of its request; the protocol decides what the request is.
const UNARY: Record<string, UnaryHandler<never>> = {
  GetDocument: getDocument,
  ListDocuments: listDocuments,
  ListCollectionIds: listCollectionIds,
  CreateDocument: createDocument,
  UpdateDocument: updateDocument,
  DeleteDocument: deleteDocument,
  Commit: commit,
  BatchWrite: batchWrite,
  BeginTransaction: beginTransaction,
  Rollback: rollback,
};
const STREAM: Record<string, StreamHandler<never>> = {
  BatchGetDocuments: batchGet,
  RunQuery: runQuery,
  RunAggregationQuery: runAggregationQuery,
};

export function implementation(
  service: ServiceDefinition,
  context: CallContext,
): UntypedServiceImplementation {
  const calls: UntypedServiceImplementation = {};
  for (const [name, method] of Object.entries(service)) {
    const unary = UNARY[name];
    const stream = STREAM[name];
    if (unary) calls[name] = serveUnary(name, unary as UnaryHandler<unknown>, context);
    else if (stream) calls[name] = serveStream(name, stream as StreamHandler<unknown>, context);
    else calls[name] = method.responseStream ? refuseStream(name) : refuseUnary(name);
  }
  return calls;
}

function serveUnary(name: string, handler: UnaryHandler<unknown>, context: CallContext) {
  return async (call: ServerUnaryCall<unknown, object>, callback: sendUnaryData<object>) => {
    context.meter.call(name);
    try {
      const { run } = await underFault(name, call.request, context);
      callback(null, await run(() => handler(call.request, context)));
    } catch (error) {
      callback(toStatus(error));
    }
  };
}

function serveStream(name: string, handler: StreamHandler<unknown>, context: CallContext) {
  return async (call: ServerWritableStream<unknown, object>) => {
    context.meter.call(name);
    try {
      const { run, messages } = await underFault(name, call.request, context);
      let left = messages;
      for (const message of await run(() => handler(call.request, context))) {
        if (left-- <= 0) throw injected('The stream was cut.');
        call.write(message);
      }
      call.end();
    } catch (error) {
      refuse(call, toStatus(error));
    }
  };
}

interface UnderFault {
  /** Runs the handler, and loses its answer, or the process, if that is the fault. */
  run<T>(handler: () => T | Promise<T>): Promise<T>;
  /** How many messages of a stream get through. */
  readonly messages: number;
}

async function underFault(name: string, request: unknown, { faults }: CallContext): Promise<UnderFault> {
  checkSize(request as object);
  const fault = faults.draw(name, () => requestPaths(request));
  const messages = fault?.kind === 'cut-stream' ? fault.afterMessages : Number.POSITIVE_INFINITY;
  switch (fault?.kind) {
    case 'latency':
      await new Promise((resolve) => setTimeout(resolve, fault.ms));
      break;
    case 'aborted':
      throw new StatusError(
        Code.ABORTED,
        'Injected: too much contention on these documents. Please try again.',
      );
    case 'unavailable':
      throw injected('The service is unavailable.');
    case 'lost-answer':
    case 'crash':
      return {
        messages,
        run: async (handler) => {
          await handler();
          if (fault.kind === 'crash') faults.crash();
          throw injected('The answer was lost.');
        },
      };
  }
  return { messages, run: async (handler) => handler() };
}

function checkSize(request: object): void {
  const bytes = requestBytes(request);
  if (bytes > MAX_REQUEST_BYTES) {
    throw invalid(`Request payload size exceeds the limit: ${MAX_REQUEST_BYTES} bytes; it has ${bytes}.`);
  }
}

function injected(what: string): StatusError {
  return new StatusError(Code.UNAVAILABLE, `Injected: ${what}`);
}

function refuseUnary(name: string) {
  return (_call: unknown, callback: sendUnaryData<object>) => callback(notImplemented(name));
}

function refuseStream(name: string) {
  return (call: ServerWritableStream<unknown, object>) => {
    refuse(call, notImplemented(name));
  };
}

/**
 * Headers before the error, as production sends them: the client's transport takes a stream that ends without headers
 * for a lost connection and tries twice more, seconds apart, whatever the status says.
 */
function refuse(
  call: ServerWritableStream<unknown, object>,
  status: { code: number; details: string },
): void {
  call.sendMetadata(new Metadata());
  call.emit('error', status);
}

function notImplemented(name: string) {
  return { code: Code.UNIMPLEMENTED, details: `${name} is not implemented by the local Firestore server.` };
}

function toStatus(error: unknown): { code: number; details: string } {
  if (error instanceof StatusError) return { code: error.code, details: error.message };
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: Code.INTERNAL, details: `Defect in the local Firestore server: ${text}` };
}
