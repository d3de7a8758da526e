/**
 * Resource names: parsing and validation of databases, documents and collections. A name that breaks production's
 * rules is refused here, once. Pure.
 */
import { MAX_COLLECTION_DEPTH, MAX_ID_BYTES, MAX_NAME_BYTES, RESERVED_NAME } from './limits.ts';
import { invalid, shown } from './status.ts';
import { numericId } from './value.ts';

/** A document, or the root of a database when `segments` is empty. */
export interface Resource {
  /** `projects/{p}/databases/{d}` */
  readonly database: string;
  /** Alternating collection ids and document ids. */
  readonly segments: readonly string[];
}

const DATABASE = /^projects\/[^/]+\/databases\/[^/]+$/;
const ROOT = /^(projects\/[^/]+\/databases\/[^/]+)\/documents(?:\/(.*))?$/s;

export function parseDatabase(name: string): string {
  if (DATABASE.test(name)) return name;
  throw invalid(`Invalid database name "${name}": expected projects/{project}/databases/{database}.`);
}

/** @throws INVALID_ARGUMENT unless `name` is a document of `database`. */
export function parseDocument(name: string, database?: string): Resource {
  const resource = parseParent(name, database);
  if (resource.segments.length === 0) throw invalid(`"${name}" is not a document name.`);
  return resource;
}

/** Like `parseDocument`, but the database root is allowed too. */
export function parseParent(name: string, database?: string): Resource {
  const match = ROOT.exec(name);
  if (!match)
    throw invalid(`Invalid resource name "${shown(name)}": expected projects/{p}/databases/{d}/documents/…`);
  const found = match[1] as string;
  if (database !== undefined && found !== database) {
    throw invalid(`"${name}" is not in the database of the request, "${database}".`);
  }
  const path = match[2] ?? '';
  if (name.endsWith('/')) {
    throw invalid(`Document parent name "${shown(name)}" is invalid: Omit trailing "/".`);
  }
  if (path === '') return { database: found, segments: [] };
  const segments = path.split('/');
  if (segments.length % 2 !== 0) {
    throw invalid(`Document name "${name}" lacks the document id: "${path}" has an odd number of segments.`);
  }
  if (segments.length / 2 > MAX_COLLECTION_DEPTH) {
    throw invalid(`"${name}" is deeper than ${MAX_COLLECTION_DEPTH} subcollections.`);
  }
  if (Buffer.byteLength(path) > MAX_NAME_BYTES) {
    throw invalid(`The document name is longer than ${MAX_NAME_BYTES} bytes.`);
  }
  segments.forEach(checkSegment);
  return { database: found, segments };
}

/** The id of the collection of a document, by the name of the document. */
export function collectionIdOf(name: string): string {
  const end = name.lastIndexOf('/');
  return name.slice(name.lastIndexOf('/', end - 1) + 1, end);
}

export function documentName(resource: Resource): string {
  const root = `${resource.database}/documents`;
  return resource.segments.length === 0 ? root : `${root}/${resource.segments.join('/')}`;
}

/** @throws INVALID_ARGUMENT for an id production would not store. */
export function checkCollectionId(id: string): void {
  checkSegment(id, 0);
  if (id.includes('/')) throw invalid(`Collection id "${id}" contains "/".`);
}

function checkSegment(segment: string, index: number): void {
  const what = index % 2 === 0 ? 'Collection id' : 'Document id';
  if (segment === '') throw invalid(`${what} is empty.`);
  if (!segment.isWellFormed()) throw invalid(`${what} "${segment.toWellFormed()}" is not valid Unicode.`);
  if (segment === '.' || segment === '..') throw invalid(`${what} cannot be "${segment}".`);
  if (RESERVED_NAME.test(segment) && (index % 2 === 0 || numericId(segment) === undefined)) {
    throw invalid(`${what} "${segment}" is invalid because it is reserved.`);
  }
  if (segment.length * 3 > MAX_ID_BYTES && Buffer.byteLength(segment) > MAX_ID_BYTES) {
    throw invalid(`${what} is longer than ${MAX_ID_BYTES} bytes.`);
  }
}
