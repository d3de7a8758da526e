/** Runs a plan: pages through its sources, checks every document and merges them in order. */
import { levelPrefix } from '../model/document-key.ts';
import {
  type Candidate,
  compareCandidates,
  fieldsRead,
  matches,
  withinCursors,
} from '../model/query/match.ts';
import { planQuery } from '../model/query/plan.ts';
import type { Source } from '../model/query/planner.ts';
import type { Query, QueryScope } from '../model/query/query.ts';
import { collectionIdOf } from '../model/resource-name.ts';
import type { StoredDocument } from '../storage/document-storage.ts';
import { decodeName, decodeStored } from '../wire/document-codec.ts';
import type { Database } from './database.ts';
import { RUN_FIELD } from './metering.ts';
import { documentsWithPrefix, levelsBelow } from './path-scan.ts';
import type { Snapshot } from './transactions/snapshot.ts';

/** A document with the fields that the query reads; with all fields for a vector search. */
export interface QueriedDocument extends Candidate {
  readonly stored: StoredDocument;
}

/** Rows of the first fetch without a limit, and of the largest fetch, so that a large result takes few calls. */
const FIRST_PAGE = 16;
const LARGEST_PAGE = 512;
/** Rows read beyond the limit: one because a merge reads ahead, and one to detect that the limit is reached. */
const READ_AHEAD = 2;
/** The smallest key; appended to a key it gives the next key. */
const NEXT = Buffer.from([0]);

interface RunOptions {
  /** Most results, including those that the offset skips; may be infinite. */
  readonly count: number;
  /** Undefined: the newest commit. */
  readonly snapshot: Snapshot | undefined;
  /** Counts what is read, for billing. */
  readonly scanned?: Scanned;
}

/** Number of index entries and documents read, matching or not. */
interface Scanned {
  entries: number;
}

/** The matching documents in order, after cursors, before the offset. */
export function runQueryPlan(database: Database, query: Query, options: RunOptions): QueriedDocument[] {
  const found: QueriedDocument[] = [];
  for (const next of queryResults(database, query, options)) {
    if (found.length >= options.count) break;
    found.push(next);
  }
  return found;
}

/** Like {@link runQueryPlan}, but lazy. Consume the iterator within one step of the event loop. */
export function queryResults(
  database: Database,
  query: Query,
  { count, snapshot, scanned = { entries: 0 } }: Partial<RunOptions>,
): Generator<QueriedDocument> {
  const isBounded = count !== undefined && Number.isFinite(count);
  const firstPage = isBounded ? Math.min(count + READ_AHEAD, LARGEST_PAGE) : FIRST_PAGE;
  const sources = planQuery(query, database.planned).map(({ source, filter }) => {
    if (source.kind === 'entries' && source.listOf !== undefined) database.listGroup(source.listOf);
    const read = counted(rows(database, query.scope, source, firstPage), scanned);
    const found = accepted({ ...query, filter }, unchangedSince(read, snapshot));
    return source.ordered ? found : sorted(query, found);
  });
  if (snapshot) sources.push(sorted(query, accepted(query, snapshot.documents())));
  return merged(query, sources);
}

function* accepted(query: Query, stored: Iterable<StoredDocument>): Generator<QueriedDocument> {
  const wanted = query.nearest ? undefined : fieldsRead(query).add(RUN_FIELD);
  for (const document of stored) {
    const { name, fields } = decodeStored(document.body, wanted);
    const candidate = { name, fields, stored: document };
    if (inScope(query.scope, name) && matches(query, candidate) && withinCursors(query, candidate))
      yield candidate;
  }
}

function* counted(stored: Iterable<StoredDocument>, scanned: Scanned): Generator<StoredDocument> {
  for (const document of stored) {
    scanned.entries++;
    yield document;
  }
}

function* unchangedSince(
  stored: Iterable<StoredDocument>,
  snapshot: Snapshot | undefined,
): Generator<StoredDocument> {
  for (const document of stored) if (!snapshot?.has(decodeName(document.body))) yield document;
}

function* rows(
  database: Database,
  scope: QueryScope,
  source: Source,
  firstPage: number,
): Generator<StoredDocument> {
  const { storage } = database;
  switch (source.kind) {
    case 'one': {
      const stored = storage.get(source.key);
      if (stored) yield stored;
      return;
    }
    case 'everything':
      for (const level of levelsBelow(scope.parent).slice(0, scope.allDescendants ? undefined : 1)) {
        yield* documentsWithPrefix(storage, levelPrefix(database.number, level, scope.parent));
      }
      return;
    case 'documents':
      yield* paged(source, firstPage, (scan) =>
        storage.scanDocuments(scan).map((d) => ({ at: d.key, document: d })),
      );
      return;
    case 'entries':
      yield* paged(source, firstPage, (scan) =>
        storage.scanEntries(scan).map((e) => ({ at: e.entry, document: e.document })),
      );
      return;
  }
}

interface KeyPage {
  readonly from: Uint8Array;
  readonly to: Uint8Array | undefined;
  readonly reverse: boolean;
  readonly limit: number;
}

function* paged(
  { bounds, reverse }: Source & { kind: 'documents' | 'entries' },
  firstPage: number,
  fetch: (request: KeyPage) => { at: Uint8Array; document: StoredDocument }[],
): Generator<StoredDocument> {
  let { from, to } = bounds;
  for (let limit = firstPage; ; limit = Math.min(limit * 2, LARGEST_PAGE)) {
    const page = fetch({ from, to, reverse, limit });
    for (const { document } of page) yield document;
    const last = page.at(-1);
    if (!last || page.length < limit) return;
    if (reverse) to = last.at;
    else from = Buffer.concat([last.at, NEXT]);
  }
}

function sorted(query: Query, found: Iterable<QueriedDocument>): Iterator<QueriedDocument> {
  return [...found].sort((a, b) => compareCandidates(query.orders, a, b)).values();
}

/** Merges sorted sources; a document of several disjunctions is returned once. */
function* merged(query: Query, sources: readonly Iterator<QueriedDocument>[]): Generator<QueriedDocument> {
  const heads = sources.map((source) => ({ source, head: source.next() })).filter(({ head }) => !head.done);
  let last: string | undefined;
  while (heads.length > 0) {
    let least = 0;
    for (let i = 1; i < heads.length; i++) {
      if (compareCandidates(query.orders, headOf(heads, i), headOf(heads, least)) < 0) least = i;
    }
    const found = headOf(heads, least);
    const entry = heads[least] as {
      source: Iterator<QueriedDocument>;
      head: IteratorResult<QueriedDocument>;
    };
    entry.head = entry.source.next();
    if (entry.head.done) heads.splice(least, 1);
    if (found.name !== last) yield found;
    last = found.name;
  }
}

function headOf(heads: readonly { head: IteratorResult<QueriedDocument> }[], i: number): QueriedDocument {
  return heads[i]?.head.value as QueriedDocument;
}

/** `projects/{p}/databases/{d}/documents` */
const ROOT_SEGMENTS = 5;

export function inScope(scope: QueryScope, name: string): boolean {
  const { database, parent, collectionId, allDescendants } = scope;
  if (!name.startsWith(database) || !name.startsWith('/documents/', database.length)) return false;
  // A cheap check first, because each commit asks this for each listener, mostly for another collection.
  if (collectionId !== undefined && collectionIdOf(name) !== collectionId) return false;
  const segments = name.split('/').slice(ROOT_SEGMENTS);
  const deepEnough = allDescendants ? segments.length > parent.length : segments.length === parent.length + 2;
  return deepEnough && parent.every((s, i) => s === segments[i]);
}
