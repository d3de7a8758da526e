/** The handler of each call, independent of the transport. */

import { type StatusError, unimplemented } from '../model/status.ts';
import { runAggregationQuery } from './calls/aggregate.ts';
import type { CallContext, StreamHandler, UnaryHandler } from './calls/call.ts';
import { createDocument, deleteDocument, getDocument, updateDocument } from './calls/document.ts';
import { cut, underFault } from './calls/grpc-outcome.ts';
import { listCollectionIds, listDocuments } from './calls/list.ts';
import { partitionQuery } from './calls/partition.ts';
import { batchGet } from './calls/read.ts';
import { runQuery } from './calls/run-query.ts';
import { batchWrite, beginTransaction, commit, rollback } from './calls/write.ts';

// A handler declares the part of its request that it reads; the protocol defines the request.
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
/** Calls whose duration grows with the number of stored documents. */
const QUERIES: ReadonlySet<string> = new Set(['RunQuery', 'RunAggregationQuery']);
const STREAM: Record<string, StreamHandler<never>> = {
  BatchGetDocuments: batchGet,
  RunQuery: runQuery,
  RunAggregationQuery: runAggregationQuery,
};

export type ServedCall =
  | { readonly kind: 'unary'; answer(request: object, context: CallContext): Promise<object> }
  /** The stream may end with an error after its messages. */
  | { readonly kind: 'stream'; answer(request: object, context: CallContext): Promise<Iterable<object>> };

/** Undefined if the call is not served, or only by one transport. */
export function servedCall(name: string): ServedCall | undefined {
  const unary = UNARY[name] as UnaryHandler<unknown> | undefined;
  const stream = STREAM[name] as StreamHandler<unknown> | undefined;
  if (unary) {
    return {
      kind: 'unary',
      async answer(request, context) {
        context.meter.call(name);
        const { run } = await underFault(name, request, context);
        return run(() => unary(request, context));
      },
    };
  }
  if (!stream) return undefined;
  return {
    kind: 'stream',
    async answer(request, context) {
      context.meter.call(name);
      const { run, messages } = await underFault(name, request, context);
      if (QUERIES.has(name)) await context.store.turns.take();
      return cutAfter(await run(() => stream(request, context)), messages);
    },
  };
}

function* cutAfter(all: Iterable<object>, most: number): Generator<object> {
  let left = most;
  for (const message of all) {
    if (left-- <= 0) throw cut();
    yield message;
  }
}

export function notImplemented(name: string): StatusError {
  return unimplemented(`${name} is not implemented by the local Firestore server.`);
}
