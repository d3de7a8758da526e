/** What requests say of schemas, in the model's terms, or INVALID_ARGUMENT. Pure. */
import { splitSchema } from '../model/names.ts';
import type { SchemaSettings } from '../model/resources.ts';
import { invalid } from '../model/status.ts';
import type { Encoding, SchemaType } from '../schema/definition.ts';
import type { WireSchemaSettings } from './messages.ts';

/** In the order of the protocol's enum. */
export const TYPES: readonly (SchemaType | undefined)[] = [undefined, 'PROTOCOL_BUFFER', 'AVRO'];
export const ENCODINGS: readonly (Encoding | undefined)[] = [undefined, 'JSON', 'BINARY'];

export function schemaTypeFrom(wire: number | null | undefined): SchemaType {
  const type = TYPES[wire ?? 0];
  if (type === undefined) throw invalid('Schema.type must be PROTOCOL_BUFFER or AVRO.');
  return type;
}

export function encodingFrom(wire: number | null | undefined): Encoding {
  const encoding = ENCODINGS[wire ?? 0];
  if (encoding === undefined) throw invalid('The encoding must be JSON or BINARY.');
  return encoding;
}

export function schemaSettingsFrom(wire: WireSchemaSettings | null | undefined): SchemaSettings | undefined {
  if (!wire) return undefined;
  const { name, revision } = splitSchema(wire.schema ?? '');
  if (revision !== undefined) throw invalid('SchemaSettings.schema must be a name without a revision.');
  return {
    name,
    encoding: encodingFrom(wire.encoding),
    firstRevision: wire.firstRevisionId || undefined,
    lastRevision: wire.lastRevisionId || undefined,
  };
}
