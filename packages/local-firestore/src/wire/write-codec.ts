/** Converts `google.firestore.v1.Write` to the model's write, and its outcome back. */
import type { WireTimestamp } from '@cairn/local-kit/wire/timestamp';
import { checkWritable, type FieldPath, formatFieldPath, parseFieldPath } from '../model/field-path.ts';
import { parseDocument } from '../model/resource-name.ts';
import { invalid } from '../model/status.ts';
import type { FieldTransform } from '../model/transform.ts';
import type { Value } from '../model/value.ts';
import type { Precondition, Write } from '../model/write.ts';
import { decodeDocument } from './document-codec.ts';
import { toAlignedMicros } from './time.ts';
import { decodeArray, decodeValue } from './value-decoder.ts';

export interface WireMask {
  readonly fieldPaths?: readonly string[] | null;
}

export interface WirePrecondition {
  readonly conditionType?: 'exists' | 'updateTime';
  readonly exists?: boolean | null;
  readonly updateTime?: WireTimestamp | null;
}

interface WireTransform {
  readonly fieldPath?: string | null;
  readonly transformType?: string;
  readonly setToServerValue?: number | null;
  readonly increment?: Uint8Array | null;
  readonly maximum?: Uint8Array | null;
  readonly minimum?: Uint8Array | null;
  readonly appendMissingElements?: Uint8Array | null;
  readonly removeAllFromArray?: Uint8Array | null;
}

export interface WireWrite {
  readonly operation?: 'update' | 'delete' | 'verify' | 'transform';
  readonly update?: Uint8Array | null;
  readonly delete?: string | null;
  readonly verify?: string | null;
  readonly transform?: {
    readonly document?: string | null;
    readonly fieldTransforms?: readonly WireTransform[] | null;
  } | null;
  readonly updateMask?: WireMask | null;
  readonly updateTransforms?: readonly WireTransform[] | null;
  readonly currentDocument?: WirePrecondition | null;
}

const REQUEST_TIME = 1;

/** @throws INVALID_ARGUMENT for a write that production refuses whatever is stored */
export function decodeWrite(write: WireWrite, database: string): Write {
  const precondition = decodePrecondition(write.currentDocument);
  if (write.operation && write.operation !== 'update') {
    if (write.updateMask) throw invalid(`a ${write.operation} must not specify a document mask.`);
    if (write.updateTransforms?.length)
      throw invalid(`a ${write.operation} must not specify a update transform.`);
  }
  switch (write.operation) {
    case 'delete': {
      const name = write.delete ?? '';
      return { kind: 'delete', name, resource: parseDocument(name, database), precondition };
    }
    case 'verify': {
      const name = write.verify ?? '';
      if (precondition.kind === 'none') throw invalid('a verify must contain a precondition');
      return { kind: 'verify', name, resource: parseDocument(name, database), precondition };
    }
    case 'update':
      return decodeUpdate(write, database, precondition);
    case 'transform': {
      const name = write.transform?.document ?? '';
      const transforms = decodeTransforms(write.transform?.fieldTransforms ?? [], database);
      if (transforms.length === 0) throw invalid('The list of FieldTransform must not be empty.');
      return {
        kind: 'set',
        name,
        resource: parseDocument(name, database),
        fields: new Map(),
        mask: [],
        transforms,
        precondition,
        body: undefined,
      };
    }
    default:
      throw invalid('empty write operation');
  }
}

function decodeUpdate(write: WireWrite, database: string, precondition: Precondition): Write {
  const bytes = write.update as Uint8Array;
  const document = decodeDocument(bytes, database);
  const transforms = decodeTransforms(write.updateTransforms ?? [], database);
  const mask = write.updateMask ? decodeUpdateMask(write.updateMask) : undefined;
  const storable = document.exact && !mask && transforms.length === 0;
  return {
    kind: 'set',
    name: document.name,
    resource: parseDocument(document.name, database),
    fields: document.fields,
    mask,
    transforms,
    precondition,
    body: storable ? bytes : undefined,
  };
}

/** Field mask of a read: a set of paths, of which one may contain another. */
export function decodeMask(mask: WireMask): FieldPath[] {
  return [...new Set(mask.fieldPaths ?? [])].map(parseFieldPath);
}

/** If one path contains another, the containing one decides; web clients rely on it. */
function decodeUpdateMask(mask: WireMask): FieldPath[] {
  const paths = decodeMask(mask);
  for (const path of paths) checkWritable(path);
  return paths;
}

export function decodePrecondition(precondition: WirePrecondition | null | undefined): Precondition {
  switch (precondition?.conditionType) {
    case 'exists':
      return { kind: 'exists', exists: precondition.exists ?? false };
    case 'updateTime':
      return { kind: 'updateTime', at: toAlignedMicros(precondition.updateTime ?? {}) };
    default:
      return { kind: 'none' };
  }
}

function decodeTransforms(transforms: readonly WireTransform[], database: string): FieldTransform[] {
  const decoded = transforms.map((transform) => decodeTransform(transform, database));
  checkNotNested(decoded);
  return decoded;
}

/** Refuses transforms of a field together with a field within it. Several transforms of one field are allowed. */
function checkNotNested(transforms: readonly FieldTransform[]): void {
  // Fast path: nearly every write has at most one transform.
  if (transforms.length < 2) return;
  const paths = new Set(transforms.map(({ path }) => formatFieldPath(path)));
  for (const { path } of transforms) {
    const outer = path.map((_, i) => formatFieldPath(path.slice(0, i))).find((parent) => paths.has(parent));
    if (outer !== undefined)
      throw invalid(`Cannot transform property ${outer} and its nested property at the same time.`);
  }
}

function decodeTransform(transform: WireTransform, database: string): FieldTransform {
  const path = parseFieldPath(transform.fieldPath ?? '');
  checkWritable(path);
  const place = { database, depth: path.length };
  switch (transform.transformType) {
    case 'setToServerValue':
      if (transform.setToServerValue !== REQUEST_TIME)
        throw invalid('ServerValue type must be specified for set_to_server_value transformation.');
      return { path, kind: 'serverTime' };
    case 'increment':
    case 'maximum':
    case 'minimum': {
      const operand = decodeValue(transform[transform.transformType] as Uint8Array);
      checkNumber(operand);
      return { path, kind: transform.transformType, operand };
    }
    case 'appendMissingElements':
      return {
        path,
        kind: 'append',
        values: decodeArray(transform.appendMissingElements as Uint8Array, place),
      };
    case 'removeAllFromArray':
      return { path, kind: 'remove', values: decodeArray(transform.removeAllFromArray as Uint8Array, place) };
    default:
      throw invalid('Operation type must be specified for field transformation.');
  }
}

function checkNumber(operand: Value): void {
  if (operand.kind !== 'integer' && operand.kind !== 'double') {
    throw invalid('Input must be int64 or double.');
  }
}
