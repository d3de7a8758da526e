/** ListDocuments and ListCollectionIds: what lies below a path. */
import { collectionPrefix, documentKey } from '../../model/document-key.ts';
import { checkCollectionId, documentName, parseParent } from '../../model/resource-name.ts';
import { invalid, unimplemented } from '../../model/status.ts';
import { decodeName, encodeBody } from '../../wire/document-codec.ts';
import { decodeMask, type WireMask } from '../../wire/write-codec.ts';
import { runOfBody } from '../metering.ts';
import { childIds, documentsWithPrefix, type Place } from '../path-scan.ts';
import type { CallContext } from './call.ts';
import { encodeFound } from './read.ts';

/** Page size when the caller names none, and the most it gets. */
const DEFAULT_PAGE = 300;
const MAX_PAGE = 10_000;

interface ListCollectionIdsRequest {
  readonly parent: string;
  readonly pageSize: number;
  readonly pageToken: string;
  readonly consistencySelector?: string;
}

export async function listCollectionIds(
  request: ListCollectionIdsRequest,
  { session, meter }: CallContext,
): Promise<object> {
  refusePast(request.consistencySelector);
  const parent = parseParent(request.parent);
  const database = session.databases.get(parent.database);
  const place = { storage: session.storage, database: database.number, segments: parent.segments };
  const size = pageSize(request.pageSize);
  const after = decodeToken(request.pageToken);
  const ids = take(childIds(place, after), size + 1);
  meter.otherReads('ListCollectionIds', undefined, 1);
  await session.storage.durable();
  return {
    collectionIds: ids.slice(0, size),
    nextPageToken: ids.length > size ? encodeToken(ids[size - 1]) : '',
  };
}

interface ListDocumentsRequest {
  readonly parent: string;
  readonly collectionId: string;
  readonly pageSize: number;
  readonly pageToken: string;
  readonly orderBy: string;
  readonly mask?: WireMask | null;
  readonly showMissing: boolean;
  readonly consistencySelector?: string;
}

export async function listDocuments(
  request: ListDocumentsRequest,
  { session, meter }: CallContext,
): Promise<object> {
  refusePast(request.consistencySelector);
  if (request.orderBy && request.orderBy !== '__name__') {
    throw unimplemented('ListDocuments orders by __name__ only; use RunQuery for other orders.');
  }
  if (request.collectionId === '') throw unimplemented('ListDocuments needs a collection id.');
  checkCollectionId(request.collectionId);
  const parent = parseParent(request.parent);
  const segments = [...parent.segments, request.collectionId];
  const database = session.databases.get(parent.database);
  const place = { storage: session.storage, database: database.number, segments };
  const size = pageSize(request.pageSize);
  const after = decodeToken(request.pageToken);
  const ids = take(request.showMissing ? childIds(place, after) : existingIds(place, after), size + 1);
  const mask = request.mask ? decodeMask(request.mask) : undefined;
  const documents = ids.slice(0, size).map((id) => {
    const path = [...segments, id];
    const stored = session.storage.get(documentKey(database.number, path));
    const name = documentName({ database: parent.database, segments: path });
    meter.read('ListDocuments', name, runOfBody(name, stored?.body));
    return stored ? encodeFound(stored, mask) : encodeMissing(name);
  });
  await session.storage.durable();
  return { documents, nextPageToken: ids.length > size ? encodeToken(ids[size - 1]) : '' };
}

function* existingIds(place: Place, after: string | undefined): Generator<string> {
  for (const stored of documentsWithPrefix(
    place.storage,
    collectionPrefix(place.database, place.segments),
    after,
  )) {
    yield decodeName(stored.body).split('/').at(-1) as string;
  }
}

/** A document that does not exist but has documents below it is listed without times. */
function encodeMissing(name: string): Buffer {
  return encodeBody(name, new Map());
}

function take(ids: Iterable<string>, count: number): string[] {
  const taken: string[] = [];
  for (const id of ids) {
    taken.push(id);
    if (taken.length === count) break;
  }
  return taken;
}

function refusePast(selector: string | undefined): void {
  if (selector === 'readTime') throw unimplemented('Reading at a past time (read_time) is not implemented.');
  if (selector === 'transaction') throw unimplemented('ListDocuments in a transaction is not implemented.');
}

function pageSize(requested: number): number {
  if (requested < 0) throw invalid('page_size must not be negative.');
  return requested === 0 ? DEFAULT_PAGE : Math.min(requested, MAX_PAGE);
}

/** A page token is the last id of the page before. */
function encodeToken(id: string | undefined): string {
  return Buffer.from(id ?? '').toString('base64url');
}

function decodeToken(token: string): string | undefined {
  return token === '' ? undefined : Buffer.from(token, 'base64url').toString();
}
