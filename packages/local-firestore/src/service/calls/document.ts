/** The single-document calls: Get, Create, Update, Delete. Each is a commit or a batch get of one. */
import { randomInt } from 'node:crypto';
import { project } from '../../model/field-path.ts';
import { checkCollectionId, parseDocument, parseParent } from '../../model/resource-name.ts';
import { Code, invalid, StatusError } from '../../model/status.ts';
import type { Write } from '../../model/write.ts';
import { decodeDocument, encodeBody, encodeDocument } from '../../wire/document-codec.ts';
import {
  decodeMask,
  decodePrecondition,
  decodeWrite,
  type WireMask,
  type WirePrecondition,
} from '../../wire/write-codec.ts';
import { meterCommit, runOfBody } from '../metering.ts';
import type { CallContext } from './call.ts';
import { reading, type WireConsistency } from './consistency.ts';
import { encodeFound } from './read.ts';

interface GetDocumentRequest extends WireConsistency {
  readonly name: string;
  readonly mask?: WireMask | null;
}

export async function getDocument(
  request: GetDocumentRequest,
  { store, meter }: CallContext,
): Promise<object> {
  const { name } = request;
  const { database: databaseName, segments } = parseDocument(name);
  const database = store.databases.get(databaseName);
  const mask = request.mask ? decodeMask(request.mask) : undefined;
  const selection = { database: databaseName, wire: request };
  const stored = await reading(store, selection, ({ transaction, snapshot }) =>
    store.read(transaction, [name], () => database.get({ name, segments }, snapshot)),
  );
  meter.read('GetDocument', name, runOfBody(name, stored?.body));
  if (!stored) throw new StatusError(Code.NOT_FOUND, `Document "${name}" not found.`);
  return encoded(encodeFound(stored, mask));
}

interface CreateDocumentRequest {
  readonly parent: string;
  readonly collectionId: string;
  readonly documentId: string;
  readonly document: Uint8Array;
  readonly mask?: WireMask | null;
}

export async function createDocument(request: CreateDocumentRequest, context: CallContext): Promise<object> {
  const parent = parseParent(request.parent);
  checkCollectionId(request.collectionId);
  if (request.documentId.includes('/'))
    throw invalid(`Resource id "${request.documentId}" is invalid because it contains "/".`);
  const name = `${request.parent}/${request.collectionId}/${request.documentId || automaticId()}`;
  const { fields, name: given } = decodeDocument(request.document, parent.database);
  if (given !== '') throw invalid('The document of a CreateDocument call must not have a name.');
  const resource = parseDocument(name, parent.database);
  const precondition = { kind: 'exists', exists: false } as const;
  const write: Write = {
    kind: 'set',
    name,
    resource,
    fields,
    mask: undefined,
    transforms: [],
    precondition,
    body: undefined,
  };
  return commitOne('CreateDocument', write, request.mask, context);
}

interface UpdateDocumentRequest {
  readonly document: Uint8Array;
  readonly updateMask?: WireMask | null;
  readonly mask?: WireMask | null;
  readonly currentDocument?: WirePrecondition | null;
}

export function updateDocument(request: UpdateDocumentRequest, context: CallContext): Promise<object> {
  const { database } = parseDocument(decodeDocument(request.document).name);
  const { document: update, updateMask, currentDocument } = request;
  const write = decodeWrite(
    { operation: 'update', update, updateMask: updateMask ?? null, currentDocument: currentDocument ?? null },
    database,
  );
  return commitOne('UpdateDocument', write, request.mask, context);
}

interface DeleteDocumentRequest {
  readonly name: string;
  readonly currentDocument?: WirePrecondition | null;
}

export async function deleteDocument(request: DeleteDocumentRequest, context: CallContext): Promise<object> {
  const resource = parseDocument(request.name);
  const precondition = decodePrecondition(request.currentDocument);
  const database = context.store.databases.get(resource.database);
  const write: Write = { kind: 'delete', name: request.name, resource, precondition };
  meterCommit('DeleteDocument', await context.store.commit(database, [write], undefined), context.meter);
  return {};
}

async function commitOne(
  call: string,
  write: Write,
  mask: WireMask | null | undefined,
  context: CallContext,
): Promise<object> {
  const database = context.store.databases.get(write.resource.database);
  // Decoded before the commit, so that a refused call writes nothing.
  const parts = mask ? decodeMask(mask) : undefined;
  const plan = await context.store.commit(database, [write], undefined);
  meterCommit(call, plan, context.meter);
  const [outcome] = plan.outcomes;
  const { fields = new Map(), createTime = plan.time, updateTime = plan.time } = outcome ?? {};
  const shown = parts ? project(fields, parts) : fields;
  return encoded(encodeDocument(encodeBody(write.name, shown), createTime, updateTime));
}

/** A response whose document is already encoded. */
function encoded(bytes: Buffer): object {
  return bytes;
}

const ID_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const ID_LENGTH = 20;

function automaticId(): string {
  let id = '';
  while (id.length < ID_LENGTH) id += ID_ALPHABET[randomInt(ID_ALPHABET.length)];
  return id;
}
