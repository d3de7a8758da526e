/** Commit, BatchWrite, BeginTransaction and Rollback. */

import { fromMicros } from '@cairn/local-kit/wire/timestamp';
import { parseDatabase } from '../../model/resource-name.ts';
import { invalid, StatusError } from '../../model/status.ts';
import { encodeValue } from '../../wire/value-encoder.ts';
import { decodeWrite, type WireWrite } from '../../wire/write-codec.ts';
import type { DocumentWriteResult } from '../database.ts';
import { meterCommit } from '../metering.ts';
import { isTransactionId } from '../transactions/transactions.ts';
import type { CallContext } from './call.ts';
import { transactionMode, type WireTransactionOptions } from './consistency.ts';

interface CommitRequest {
  readonly database: string;
  readonly writes: readonly WireWrite[];
  readonly transaction: Uint8Array;
}

export async function commit(request: CommitRequest, { store, meter }: CallContext): Promise<object> {
  const database = store.databases.get(parseDatabase(request.database));
  const { transaction: id } = request;
  const transaction = id.length > 0 ? store.transactions.get(id, database.name) : undefined;
  const writes = request.writes.map((write) => decodeWrite(write, database.name));
  const plan = await store.commit(database, writes, transaction);
  meterCommit('Commit', plan, meter);
  return { writeResults: plan.outcomes.map(encodeOutcome), commitTime: fromMicros(plan.time) };
}

/** `google.firestore.v1.WriteResult` */
export function encodeOutcome(outcome: DocumentWriteResult): object {
  return {
    updateTime: outcome.updateTime === undefined ? undefined : fromMicros(outcome.updateTime),
    transformResults: outcome.transformResults.map(encodeValue),
  };
}

/** Applies or refuses each write independently of the others. */
export async function batchWrite(
  request: { database: string; writes: readonly WireWrite[] },
  { store, meter }: CallContext,
): Promise<object> {
  const database = store.databases.get(parseDatabase(request.database));
  const writes = request.writes.map((write) => decodeWrite(write, database.name));
  const names = new Set(writes.map((w) => w.name));
  if (names.size < writes.length)
    throw invalid('the same document cannot be written more than once in a single request');
  const results = await Promise.all(
    writes.map(async (write) => {
      try {
        const plan = await store.commit(database, [write], undefined);
        meterCommit('BatchWrite', plan, meter);
        return { result: encodeOutcome(plan.outcomes[0] as DocumentWriteResult), status: { code: 0 } };
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        return { result: {}, status: { code: error.code, message: error.message } };
      }
    }),
  );
  return { writeResults: results.map((r) => r.result), status: results.map((r) => r.status) };
}

export function beginTransaction(
  request: { database: string; options?: WireTransactionOptions | null },
  { store }: CallContext,
): object {
  const database = parseDatabase(request.database);
  return { transaction: store.begin(database, transactionMode(request.options ?? {}, 'readWrite')).id };
}

export function rollback(
  request: { database: string; transaction: Uint8Array },
  { store }: CallContext,
): object {
  if (request.transaction.length === 0) throw invalid('Rollback needs the id of a transaction.');
  if (!isTransactionId(request.transaction)) throw invalid('Invalid transaction.');
  store.rollback(request.transaction, parseDatabase(request.database));
  return {};
}
