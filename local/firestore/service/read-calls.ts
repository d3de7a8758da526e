/** BatchGetDocuments and RunQuery: the calls that read documents. */
import { type FieldPath, project } from '../model/field-path.ts';
import type { Query } from '../model/query.ts';
import { type Candidate, compareCandidates, matches, withinCursors } from '../model/query-match.ts';
import { documentName, parseDatabase, parseDocument, type Resource } from '../model/resource-name.ts';
import { invalid, unimplemented } from '../model/status.ts';
import type { StoredDocument } from '../storage/document-storage.ts';
import { decodeDocument, encodeBody, encodeDocument } from '../wire/document-codec.ts';
import { decodeQuery, type WireQuery } from '../wire/query-codec.ts';
import { toTimestamp } from '../wire/time.ts';
import { decodeMask, type WireMask } from '../wire/write-codec.ts';
import type { CallContext } from './call.ts';
import { select, type WireConsistency } from './consistency.ts';
import type { LockedRange } from './lock-table.ts';
import { type Found, matching } from './query-runner.ts';

interface BatchGetRequest extends WireConsistency {
  readonly database: string;
  readonly documents: readonly string[];
  readonly mask?: WireMask | null;
}

export async function batchGet(
  request: BatchGetRequest,
  { session }: CallContext,
): Promise<Iterable<object>> {
  const database = session.databases.get(parseDatabase(request.database));
  const documents = request.documents.map((name) => ({ name, resource: parseDocument(name, database.name) }));
  const mask = request.mask ? decodeMask(request.mask) : undefined;
  const { transaction, begun } = select(session, database.name, request);
  const read = () => {
    const readTime = toTimestamp(database.readTime());
    return documents.map(({ name, resource }) => {
      const stored = database.get(resource.segments);
      return stored ? { found: encodeFound(stored, mask), readTime } : { missing: name, readTime };
    });
  };
  const answers: object[] = await session.read(transaction, request.documents, read);
  await session.storage.durable();
  return begun && transaction ? [{ transaction: transaction.id }, ...answers] : answers;
}

export function encodeFound(stored: StoredDocument, mask: readonly FieldPath[] | undefined): Buffer {
  if (!mask) return encodeDocument(stored.body, stored.createTime, stored.updateTime);
  const { name, fields } = decodeDocument(stored.body);
  return encodeDocument(encodeBody(name, project(fields, mask)), stored.createTime, stored.updateTime);
}

interface RunQueryRequest extends WireConsistency {
  readonly parent: string;
  readonly structuredQuery?: WireQuery | null;
  readonly explainOptions?: object | null;
}

export async function runQuery(
  request: RunQueryRequest,
  { session }: CallContext,
): Promise<Iterable<object>> {
  if (request.explainOptions) throw unimplemented('Query explain is not implemented.');
  if (!request.structuredQuery) throw invalid('RunQuery needs a structured query.');
  const query = decodeQuery(request.parent, request.structuredQuery);
  const database = session.databases.get(query.scope.database);
  const { transaction, begun } = select(session, database.name, request);
  const run = () => {
    const found = window(query, matching(session.storage, database.number, query));
    return { result: { found, readTime: database.readTime() }, range: rangeRead(query, found), found };
  };
  const { found, readTime } = await session.query(transaction, wholeRange(query), run);
  await session.storage.durable();
  const id = begun && transaction ? { transaction: transaction.id } : {};
  return answers(query, found, toTimestamp(readTime), id);
}

function* answers(query: Query, found: readonly Found[], readTime: object, id: object): Generator<object> {
  if (Object.keys(id).length > 0) yield id;
  if (found.length === 0) yield { readTime };
  for (const { stored } of found) yield { document: encodeFound(stored, query.select), readTime };
}

function window(query: Query, all: readonly Found[]): readonly Found[] {
  const end = query.limit === undefined ? undefined : query.offset + query.limit;
  return all.slice(query.offset, end);
}

/** Everything the query could return, whatever its limit. */
function wholeRange(query: Query): LockedRange {
  const { collectionId } = query.scope;
  return { collectionId, covers: (c) => inScope(query, c) && matches(query, c) && withinCursors(query, c) };
}

/** What it did read: nothing beyond the last result when the limit was reached. */
function rangeRead(query: Query, found: readonly Found[]): LockedRange {
  const whole = wholeRange(query);
  const last = found.at(-1);
  if (query.limit === undefined || found.length < query.limit || !last) return whole;
  return { ...whole, covers: (c) => whole.covers(c) && compareCandidates(query.orders, c, last) <= 0 };
}

function inScope({ scope }: Query, candidate: Candidate): boolean {
  const parent: Resource = { database: scope.database, segments: scope.parent };
  const prefix = `${documentName(parent)}/`;
  if (!candidate.name.startsWith(prefix)) return false;
  const rest = candidate.name.slice(prefix.length).split('/');
  if (!scope.allDescendants && rest.length !== 2) return false;
  return scope.collectionId === undefined || rest.at(-2) === scope.collectionId;
}
