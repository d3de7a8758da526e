/**
 * One write and what it does to one document: mask, transforms, precondition. Pure: given the document and the time it
 * returns the next document, so that a commit can be decided completely before anything is stored.
 */
import { type FieldPath, getField, overlay, withField } from './field-path.ts';
import type { Resource } from './resource-name.ts';
import { Code, invalid, StatusError } from './status.ts';
import { applyTransform, type FieldTransform } from './transform.ts';
import { type Fields, identicalFields, type Value } from './value.ts';

export type Precondition =
  | { readonly kind: 'none' }
  | { readonly kind: 'exists'; readonly exists: boolean }
  /** `at`: microseconds since 1970. */
  | { readonly kind: 'updateTime'; readonly at: number };

interface SetWrite {
  readonly kind: 'set';
  readonly name: string;
  readonly resource: Resource;
  readonly fields: Fields;
  /** Absent: the document is replaced. Present: only these fields change; those missing in `fields` are deleted. */
  readonly mask: readonly FieldPath[] | undefined;
  readonly transforms: readonly FieldTransform[];
  readonly precondition: Precondition;
  /** The request's own encoding of name and fields, when it can be stored as it is. */
  readonly body: Uint8Array | undefined;
}

interface DeleteWrite {
  readonly kind: 'delete';
  readonly name: string;
  readonly resource: Resource;
  readonly precondition: Precondition;
}

/** Writes nothing, but fails the commit unless the document meets the precondition. */
interface VerifyWrite {
  readonly kind: 'verify';
  readonly name: string;
  readonly resource: Resource;
  readonly precondition: Precondition;
}

export type Write = SetWrite | DeleteWrite | VerifyWrite;

/** The current state of a document. Times in microseconds since 1970. */
export interface DocumentVersion {
  readonly fields: Fields;
  readonly createTime: number;
  readonly updateTime: number;
}

interface AppliedWrite {
  readonly next: DocumentVersion | undefined;
  /** False when the stored document stays as it is, update time included. */
  readonly changed: boolean;
  readonly transformResults: readonly Value[];
}

/**
 * Refuses writes of one commit that contradict each other whatever is stored. No write may require a document to exist after its deletion,
 * to be missing after it was written, or to have another update time than its first write requires. A verified document may be in no
 * other write.
 *
 * @throws INVALID_ARGUMENT
 */
export function checkSequence(writes: readonly Write[]): void {
  const exists = new Map<string, boolean>();
  const verified = new Set<string>();
  const firsts = new Map<string, Precondition>();
  for (const { name, kind, precondition } of writes) {
    const before = exists.get(name);
    if (verified.has(name) || (kind === 'verify' && before !== undefined)) {
      throw invalid(`"${name}" is verified by this commit and cannot be in another of its writes.`);
    }
    if (before !== undefined && precondition.kind === 'exists' && precondition.exists !== before) {
      throw invalid(
        before
          ? `"${name}" is written by this commit and cannot be required to be missing afterwards.`
          : `"${name}" is deleted by this commit and cannot be required to exist afterwards.`,
      );
    }
    if (precondition.kind === 'updateTime' && before !== undefined) {
      if (!before && kind === 'set')
        throw invalid('Cannot delete then update an entity in the same request.');
      if (!isSameVersion(precondition, firsts.get(name)))
        throw invalid(`Cannot collapse mutations with different version preconditions of "${name}".`);
    }
    if (!firsts.has(name)) firsts.set(name, precondition);
    if (kind === 'verify') verified.add(name);
    else exists.set(name, kind === 'set');
  }
}

const isSameVersion = (one: Precondition, other: Precondition | undefined) =>
  one.kind === 'updateTime' && other?.kind === 'updateTime' && one.at === other.at;

/**
 * `time`: of the commit, microseconds since 1970.
 *
 * @throws NOT_FOUND, ALREADY_EXISTS or FAILED_PRECONDITION if the document does not meet the precondition, INVALID_ARGUMENT if no
 * document can
 */
export function applyWrite(current: DocumentVersion | undefined, write: Write, time: number): AppliedWrite {
  checkPrecondition(current, write, time);
  if (write.kind === 'verify') return { next: current, changed: false, transformResults: [] };
  if (write.kind === 'delete') {
    return { next: undefined, changed: current !== undefined, transformResults: [] };
  }
  let fields = write.mask ? overlay(current?.fields ?? new Map(), write.fields, write.mask) : write.fields;
  const transformResults: Value[] = [];
  for (const transform of write.transforms) {
    const { stored, result } = applyTransform(getField(fields, transform.path), transform, time);
    fields = withField(fields, transform.path, stored);
    transformResults.push(result);
  }
  if (current && identicalFields(current.fields, fields)) {
    return { next: current, changed: false, transformResults };
  }
  const next = { fields, createTime: current?.createTime ?? time, updateTime: time };
  return { next, changed: true, transformResults };
}

function checkPrecondition(current: DocumentVersion | undefined, write: Write, time: number): void {
  const { precondition, name } = write;
  if (precondition.kind === 'updateTime' && precondition.at > time) {
    throw invalid(`The update_time that is required of ${name} lies in the future.`);
  }
  if (precondition.kind === 'exists') {
    if (precondition.exists && !current) {
      throw new StatusError(Code.NOT_FOUND, `No document to update: ${name}`);
    }
    if (!precondition.exists && current) {
      throw new StatusError(Code.ALREADY_EXISTS, `Document already exists: ${name}`);
    }
    return;
  }
  // The version of a missing document is 0.
  const stored = current?.updateTime ?? 0;
  if (precondition.kind === 'updateTime' && stored !== precondition.at) {
    throw new StatusError(
      Code.FAILED_PRECONDITION,
      `the stored version (${stored}) does not match the required base version (${precondition.at})`,
    );
  }
}
