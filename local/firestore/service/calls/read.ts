/** BatchGetDocuments and RunQuery: the calls that read documents. */

import type { Meter } from '../../meter.ts';
import { type FieldPath, project } from '../../model/field-path.ts';
import type { Query } from '../../model/query/query.ts';
import { parseDatabase, parseDocument } from '../../model/resource-name.ts';
import { invalid, unimplemented } from '../../model/status.ts';
import type { StoredDocument } from '../../storage/document-storage.ts';
import { decodeDocument, encodeBody, encodeDocument } from '../../wire/document-codec.ts';
import { decodeQuery, type WireQuery } from '../../wire/query-codec.ts';
import { toTimestamp } from '../../wire/time.ts';
import { decodeMask, type WireMask } from '../../wire/write-codec.ts';
import { runOf, runOfBody } from '../metering.ts';
import { readQuery } from '../query-read.ts';
import type { Found } from '../query-runner.ts';
import type { CallContext } from './call.ts';
import { reading, type WireConsistency } from './consistency.ts';

interface BatchGetRequest extends WireConsistency {
  readonly database: string;
  readonly documents: readonly string[];
  readonly mask?: WireMask | null;
}

export async function batchGet(
  request: BatchGetRequest,
  { session, meter }: CallContext,
): Promise<Iterable<object>> {
  const database = session.databases.get(parseDatabase(request.database));
  // A name given twice is answered once.
  const names = [...new Set(request.documents)];
  const documents = names.map((name) => ({
    name,
    segments: parseDocument(name, database.name).segments,
  }));
  const mask = request.mask ? decodeMask(request.mask) : undefined;
  return reading(
    session,
    { database: database.name, wire: request },
    async ({ transaction, snapshot, begun }) => {
      const answers: object[] = await session.read(transaction, names, () => {
        const readTime = toTimestamp(snapshot?.time ?? database.readTime());
        const found: object[] = [];
        const missing: object[] = [];
        for (const address of documents) {
          const { name } = address;
          const stored = database.get(address, snapshot);
          meter.read('BatchGetDocuments', name, runOfBody(name, stored?.body));
          if (stored) found.push({ found: encodeFound(stored, mask), readTime });
          else missing.push({ missing: name, readTime });
        }
        // The order of answers is no promise; production tells of what is missing at the end.
        return [...found, ...missing];
      });
      return begun ? [{ transaction: begun }, ...answers] : answers;
    },
  );
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
  { session, meter }: CallContext,
): Promise<Iterable<object>> {
  if (request.explainOptions) throw unimplemented('Query explain is not implemented.');
  if (!request.structuredQuery) throw invalid('RunQuery needs a structured query.');
  const query = decodeQuery(request.parent, request.structuredQuery);
  return reading(session, { database: query.scope.database, wire: request }, async (selected) => {
    const { found, skipped, readTime } = await readQuery(session, selected, query);
    meterQuery(meter, query, found, skipped);
    const id = selected.begun ? { transaction: selected.begun } : {};
    return answers(query, found, toTimestamp(readTime), id);
  });
}

function* answers(query: Query, found: readonly Found[], readTime: object, id: object): Generator<object> {
  if (Object.keys(id).length > 0) yield id;
  if (found.length === 0) yield { readTime };
  for (const { stored } of found) yield { document: encodeFound(stored, query.select), readTime };
}

/** A query is billed its results and what its offset skipped, and one read when that is nothing. */
function meterQuery(meter: Meter, query: Query, found: readonly Found[], skipped: number): void {
  for (const { name, fields } of found) meter.read('RunQuery', name, runOf(name, fields));
  const others = skipped > 0 || found.length > 0 ? skipped : 1;
  meter.otherReads('RunQuery', query.scope.collectionId, others);
}
