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
  /** @throws Error that says what is wrong with a message in this encoding */
  check(data: Uint8Array, encoding: Encoding): void;
  /** @throws Error that says why this may not follow `before`, a definition of the same type, as a schema's next revision */
  requireFollows(before: Definition): void;
}

/** @throws Error that says what is wrong with the text, whatever it is */
export function parseDefinition(type: SchemaType, text: string): Definition {
  return type === 'AVRO' ? avroDefinition(text) : protobufDefinition(text);
}
