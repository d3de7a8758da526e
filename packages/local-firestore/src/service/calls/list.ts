/** ListDocuments and ListCollectionIds. */
import { fieldValue } from '../../model/query/match.ts';
import { normaliseQuery } from '../../model/query/normalise.ts';
import type { Cursor, Query } from '../../model/query/query.ts';
import { checkCollectionId, documentName, parseParent, type Resource } from '../../model/resource-name.ts';
import { invalid } from '../../model/status.ts';
import { encodeBody } from '../../wire/document-codec.ts';
import { parseOrders } from '../../wire/order-text.ts';
import { decodePageToken, encodePageToken } from '../../wire/page-token.ts';
import { decodeOperand } from '../../wire/value-decoder.ts';
import { encodeValue } from '../../wire/value-encoder.ts';
import { decodeMask, type WireMask } from '../../wire/write-codec.ts';
import { runOfBody } from '../metering.ts';
import { childIds, childIdsAt } from '../path-scan.ts';
import { readQuery } from '../query-read.ts';
import type { QueriedDocument } from '../query-runner.ts';
import type { TransactionalStore } from '../transactional-store.ts';
import type { Snapshot } from '../transactions/snapshot.ts';
import type { CallContext } from './call.ts';
import { reading, type SelectedConsistency, type WireConsistency } from './consistency.ts';
import { encodeFound } from './read.ts';

/** Default and largest page size. */
const DEFAULT_PAGE = 300;
const MAX_PAGE = 10_000;

const COLLECTIONS = 'collections';
const MISSING = 'missing';

interface ListCollectionIdsRequest extends WireConsistency {
  readonly parent: string;
  readonly pageSize: number;
  readonly pageToken: string;
}

export async function listCollectionIds(
  request: ListCollectionIdsRequest,
  { store, meter }: CallContext,
): Promise<object> {
  const parent = parseParent(request.parent);
  const size = pageSize(request.pageSize);
  const after = decodeIdToken(request.pageToken, COLLECTIONS);
  const selection = { database: parent.database, wire: request };
  const ids = await reading(store, selection, ({ snapshot }) =>
    take(idsBelow(store, parent, { snapshot, after }), size + 1),
  );
  meter.otherReads('ListCollectionIds', undefined, 1);
  return {
    collectionIds: ids.slice(0, size),
    nextPageToken: ids.length > size ? encodeIdToken(COLLECTIONS, ids[size - 1]) : '',
  };
}

interface ListDocumentsRequest extends WireConsistency {
  readonly parent: string;
  readonly collectionId: string;
  readonly pageSize: number;
  readonly pageToken: string;
  readonly orderBy: string;
  readonly mask?: WireMask | null;
  readonly showMissing: boolean;
}

interface ListedDocument {
  readonly name: string;
  /** Undefined for a document that does not exist and has others below it. */
  readonly stored: QueriedDocument['stored'] | undefined;
}

interface DocumentPage {
  readonly listed: readonly ListedDocument[];
  readonly nextPageToken: string;
}

export async function listDocuments(
  request: ListDocumentsRequest,
  { store, meter }: CallContext,
): Promise<object> {
  const mask = request.mask ? decodeMask(request.mask) : undefined;
  const list = request.showMissing ? withMissing(request) : existing(request);
  const { database } = parseParent(request.parent);
  const { listed, nextPageToken } = await reading(store, { database, wire: request }, (selected) =>
    list(store, selected),
  );
  for (const { name, stored } of listed) {
    meter.read('ListDocuments', name, runOfBody(name, stored?.body));
  }
  if (listed.length === 0) meter.otherReads('ListDocuments', request.collectionId || undefined, 1);
  // A document that does not exist but has documents below it is listed without times.
  const documents = listed.map(({ name, stored }) =>
    stored ? encodeFound(stored, mask) : encodeBody(name, new Map()),
  );
  return { documents, nextPageToken };
}

type ListCall = (store: TransactionalStore, selected: SelectedConsistency) => Promise<DocumentPage>;

/** Lists existing documents of one collection, or of all collections directly below the parent, by a query. */
function existing(request: ListDocumentsRequest): ListCall {
  const { database, segments } = parseParent(request.parent);
  const collectionId = request.collectionId || undefined;
  if (collectionId !== undefined) checkCollectionId(collectionId);
  const orders = parseOrders(request.orderBy);
  if (collectionId === undefined && orders.some((o) => o.field[0] !== '__name__')) {
    throw invalid('kind is required for all orders except __key__ ascending');
  }
  const size = pageSize(request.pageSize);
  const list = JSON.stringify(orders);
  const query = normaliseQuery({
    scope: { database, parent: segments, collectionId, allDescendants: false },
    filter: undefined,
    orders,
    startAt: decodeCursorToken(request.pageToken, list),
    endAt: undefined,
    offset: 0,
    limit: size + 1,
    required: [],
    select: undefined,
  });
  return async (store, selected) => {
    const { found } = await readQuery(store, selected, query);
    const listed = found.slice(0, size);
    const last = listed.at(-1);
    return { listed, nextPageToken: last && found.length > size ? encodeCursorToken(list, query, last) : '' };
  };
}

/** Lists all ids of a collection that have a document or descendants. */
function withMissing(request: ListDocumentsRequest): ListCall {
  if (request.orderBy !== '') throw invalid('cannot specify an order when show_missing is true');
  if (request.collectionId === '') throw invalid('collection id must be set when show_missing is true');
  checkCollectionId(request.collectionId);
  const { database, segments } = parseParent(request.parent);
  const collection = { database, segments: [...segments, request.collectionId] };
  const size = pageSize(request.pageSize);
  const after = decodeIdToken(request.pageToken, MISSING);
  // A missing document is listed because of its descendants, so a transaction locks all of them.
  const below = `${documentName(collection)}/`;
  const range = { collectionId: undefined, covers: ({ name }: { name: string }) => name.startsWith(below) };
  return async (store, { transaction, snapshot }) =>
    store.query(transaction, range, () => {
      const ids = take(idsBelow(store, collection, { snapshot, after }), size + 1);
      const listed = ids.slice(0, size).map((id) => {
        const path = { database, segments: [...collection.segments, id] };
        const name = documentName(path);
        const stored = store.databases.get(database).get({ name, segments: path.segments }, snapshot);
        return { name, stored };
      });
      const nextPageToken = ids.length > size ? encodeIdToken(MISSING, ids[size - 1]) : '';
      return { result: { listed, nextPageToken }, range, found: [] };
    });
}

function idsBelow(
  store: TransactionalStore,
  { database, segments }: Resource,
  { snapshot, after }: { snapshot: Snapshot | undefined; after: string | undefined },
): Iterable<string> {
  const place = { storage: store.storage, database: store.databases.get(database).number, segments };
  return snapshot ? childIdsAt(place, snapshot, after) : childIds(place, after);
}

function take(ids: Iterable<string>, count: number): string[] {
  const taken: string[] = [];
  for (const id of ids) {
    taken.push(id);
    if (taken.length === count) break;
  }
  return taken;
}

function pageSize(requested: number): number {
  if (requested < 0) throw invalid('page_size must be greater than or equal to zero.');
  return requested === 0 ? DEFAULT_PAGE : Math.min(requested, MAX_PAGE);
}

/** The token of a list of ids is the last id of the previous page. */
function encodeIdToken(list: string, id: string | undefined): string {
  return encodePageToken(list, [id ?? '']);
}

function decodeIdToken(token: string, list: string): string | undefined {
  return decodePageToken(token, list)?.[0];
}

/** The token of a query is the position of its last document in its order. */
function encodeCursorToken(list: string, { orders }: Query, last: QueriedDocument): string {
  const values = orders.map(({ field }) => {
    const value = fieldValue(last, field);
    return value ? encodeValue(value).toString('base64') : '';
  });
  return encodePageToken(list, values);
}

function decodeCursorToken(token: string, list: string): Cursor | undefined {
  const parts = decodePageToken(token, list);
  return parts && { values: parts.map((part) => decodeOperand(Buffer.from(part, 'base64'))), before: false };
}
