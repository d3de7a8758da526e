/** The size of a document as production counts it (firebase.google.com/docs/firestore/storage-size). Pure. */
import type { Fields, Value } from './value.ts';

const PER_DOCUMENT = 32;
const PER_NAME = 16;

/** Bytes of name and fields. */
export function documentSize(segments: readonly string[], fields: Fields): number {
  return nameSize(segments) + fieldsSize(fields) + PER_DOCUMENT;
}

function nameSize(segments: readonly string[]): number {
  return segments.reduce((total, segment) => total + textSize(segment), PER_NAME);
}

function fieldsSize(fields: Fields): number {
  let total = 0;
  for (const [key, value] of fields) total += textSize(key) + valueSize(value);
  return total;
}

function textSize(text: string): number {
  return Buffer.byteLength(text) + 1;
}

/** `projects/{p}/databases/{d}/documents` is not counted in a reference. */
const ROOT_SEGMENTS = 5;

export function valueSize(value: Value): number {
  switch (value.kind) {
    case 'null':
    case 'boolean':
      return 1;
    case 'integer':
    case 'double':
    case 'timestamp':
      return 8;
    case 'geo':
      return 16;
    case 'string':
      return textSize(value.value);
    case 'bytes':
      return value.value.length;
    case 'reference':
      return nameSize(value.value.split('/').slice(ROOT_SEGMENTS));
    case 'array':
      return value.values.reduce((total, element) => total + valueSize(element), 0);
    case 'map':
      return fieldsSize(value.fields);
  }
}
