/**
 * PartitionQuery: finds points that split the documents of a collection group among several readers. Only chooses names; the readers use
 * RunQuery.
 */
import { type Int64, integer } from '@cairn/local-kit/wire/timestamp';
import { isNameField } from '../../model/query/normalise.ts';
import type { Cursor, Query } from '../../model/query/query.ts';
import { documentName, parseDocument, parseParent } from '../../model/resource-name.ts';
import { invalid } from '../../model/status.ts';
import { decodeQuery, type WireQuery } from '../../wire/query-codec.ts';
import { encodeValue } from '../../wire/value-encoder.ts';
import type { Database } from '../database.ts';
import { queryResults } from '../query-runner.ts';
import type { Snapshot } from '../transactions/snapshot.ts';
import type { CallContext } from './call.ts';
import { reading, type WireConsistency } from './consistency.ts';

/** Documents in the smallest partition, as in production; the clients' own tests rely on it. */
const CHUNK = 128;
/** Default and largest number of split points on a page, so that an answer stays well below a megabyte. */
const MAX_PAGE = 1_000;

interface PartitionQueryRequest extends WireConsistency {
  readonly parent: string;
  readonly structuredQuery?: WireQuery | null;
  readonly partitionCount: Int64;
  readonly pageToken: string;
  readonly pageSize: number;
}

/** Content of a page token: the number of partitions returned so far, and the last one. */
interface PartitionProgress {
  readonly given: number;
  readonly last: string | undefined;
}

export async function partitionQuery(
  request: PartitionQueryRequest,
  { store, meter }: CallContext,
): Promise<object> {
  const query = decodePartitioned(request);
  const wanted = integer(request.partitionCount);
  if (wanted <= 0) throw invalid(`partition_count must be positive: ${wanted}.`);
  if (request.pageSize < 0) throw invalid('page_size must be greater than or equal to zero.');
  const size = request.pageSize === 0 ? MAX_PAGE : Math.min(request.pageSize, MAX_PAGE);
  const { database: name } = query.scope;
  const { given, last } = decodeToken(request.pageToken, name);
  const names = await reading(store, { database: name, wire: request }, ({ snapshot }) => {
    const rest = { ...query, startAt: last === undefined ? undefined : startingAt(last) };
    return places(chunkStarts(store.databases.get(name), rest, snapshot), wanted - given);
  });
  meter.otherReads('PartitionQuery', query.scope.collectionId, 1);
  const page = names.slice(0, size);
  const progress = { given: given + page.length, last: page.at(-1) };
  return {
    partitions: page.map((value) => ({
      values: [encodeValue({ kind: 'reference', value })],
      before: true,
    })),
    nextPageToken: names.length > size ? encodeToken(progress) : '',
  };
}

/** The rules are those of `google.firestore.v1.PartitionQueryRequest`. */
function decodePartitioned({ parent, structuredQuery }: PartitionQueryRequest): Query {
  if (!structuredQuery) throw invalid('PartitionQuery needs a structured query.');
  if (parseParent(parent).segments.length > 0) {
    throw invalid(`"${parent}" is a document: PartitionQuery requires the root of a database.`);
  }
  const query = decodeQuery(parent, structuredQuery);
  const { scope, filter, orders, explicitOrders, startAt, endAt, offset, limit, select } = query;
  if (!scope.allDescendants || scope.collectionId === undefined) {
    throw invalid('PartitionQuery requires a query of a collection with all descendants.');
  }
  const [order] = orders;
  if (explicitOrders !== 1 || !order || !isNameField(order.field) || order.descending) {
    throw invalid('PartitionQuery requires a query ordered by __name__ ascending.');
  }
  if (filter || startAt || endAt || offset > 0 || limit !== undefined || select) {
    throw invalid('PartitionQuery does not support filters, cursors, offsets, limits or projections.');
  }
  return query;
}

/** Names of the first documents of all chunks but the first. */
function chunkStarts(database: Database, query: Query, snapshot: Snapshot | undefined): string[] {
  const starts: string[] = [];
  let count = 0;
  for (const { name } of queryResults(database, query, { snapshot })) {
    if (count % CHUNK === 0 && count > 0) starts.push(name);
    count++;
  }
  // A last chunk that is not full is part of the one before.
  if (count % CHUNK !== 0) starts.pop();
  return starts;
}

/** At most `wanted` of the starts, evenly distributed. */
function places(starts: readonly string[], wanted: number): string[] {
  const chunks = starts.length + 1;
  const count = Math.min(wanted, starts.length);
  return Array.from({ length: count }, (_, i) => {
    const chunk = Math.round(((i + 1) * chunks) / (count + 1));
    return starts[chunk - 1] as string;
  });
}

function startingAt(name: string): Cursor {
  return { values: [{ kind: 'reference', value: name }], before: true };
}

function encodeToken({ given, last }: PartitionProgress): string {
  return Buffer.from(`${given} ${last}`).toString('base64url');
}

/** @throws INVALID_ARGUMENT for a token that this call did not issue, or issued for another database */
function decodeToken(token: string, database: string): PartitionProgress {
  if (token === '') return { given: 0, last: undefined };
  const [, given, last] = /^(\d{1,9}) (.+)$/s.exec(Buffer.from(token, 'base64url').toString()) ?? [];
  if (given === undefined || last === undefined)
    throw invalid('The page token does not belong to this call.');
  return { given: Number(given), last: documentName(parseDocument(last, database)) };
}
