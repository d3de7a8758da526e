/**
 * Schema validation of messages, independent of the schema language. Owns the choice of implementation by language;
 * errors are texts for the caller.
 *
 * Must not: know names, revisions or topics.
 */
import { avroDefinition } from './avro.ts';
import { protobufDefinition } from './protobuf.ts';

export type SchemaType = 'AVRO' | 'PROTOCOL_BUFFER';
export type Encoding = 'JSON' | 'BINARY';

/** A parsed definition. */
export interface Definition {
  /** @throws Error with the problem of a message in this encoding */
  check(data: Uint8Array, encoding: Encoding): void;
  /** @throws Error with the reason why this cannot be the next revision after `before`, a definition of the same type */
  requireFollows(before: Definition): void;
}

/** @throws Error with the problem of the text */
export function parseDefinition(type: SchemaType, text: string): Definition {
  return type === 'AVRO' ? avroDefinition(text) : protobufDefinition(text);
}
