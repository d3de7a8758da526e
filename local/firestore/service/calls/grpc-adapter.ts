/** Connects handlers to grpc-js: which call is served by what, errors to statuses. Knows nothing of any call's meaning. */
import type {
  ServerUnaryCall,
  ServerWritableStream,
  ServiceDefinition,
  sendUnaryData,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { Code } from '../../model/status.ts';
import { serveWrite } from '../write-stream/grpc-write.ts';
import { runAggregationQuery } from './aggregate.ts';
import type { CallContext, StreamHandler, UnaryHandler } from './call.ts';
import { createDocument, deleteDocument, getDocument, updateDocument } from './document.ts';
import { serveListen } from './grpc-listen.ts';
import { cut, refuse, toStatus, underFault } from './grpc-outcome.ts';
import { listCollectionIds, listDocuments } from './list.ts';
import { partitionQuery } from './partition.ts';
import { batchGet } from './read.ts';
import { runQuery } from './run-query.ts';
import { batchWrite, beginTransaction, commit, rollback } from './write.ts';

// A handler states what it reads of its request; the protocol decides what the request is.
const UNARY: Record<string, UnaryHandler<never>> = {
  GetDocument: getDocument,
  ListDocuments: listDocuments,
  ListCollectionIds: listCollectionIds,
  PartitionQuery: partitionQuery,
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
    if (name === 'Listen') calls[name] = serveListen(context);
    else if (name === 'Write') calls[name] = serveWrite(context);
    else if (unary) calls[name] = serveUnary(name, unary as UnaryHandler<unknown>, context);
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
        if (left-- <= 0) throw cut();
        call.write(message);
      }
      call.end();
    } catch (error) {
      refuse(call, toStatus(error));
    }
  };
}

function refuseUnary(name: string) {
  return (_call: unknown, callback: sendUnaryData<object>) => callback(notImplemented(name));
}

function refuseStream(name: string) {
  return (call: ServerWritableStream<unknown, object>) => {
    refuse(call, notImplemented(name));
  };
}

function notImplemented(name: string) {
  return { code: Code.UNIMPLEMENTED, details: `${name} is not implemented by the local Firestore server.` };
}
