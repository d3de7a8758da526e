/** Converts schemas in requests to model values, or throws INVALID_ARGUMENT. Pure. */
import { splitSchema } from '../model/names.ts';
import type { SchemaSettings } from '../model/resources.ts';
import { DELETED_REVISION, type RevisionBound } from '../model/revision-bounds.ts';
import { invalid } from '../model/status.ts';
import type { Encoding, SchemaType } from '../schema/definition.ts';
import type { WireSchemaSettings } from './messages.ts';

/** In the order of the protocol's enum. */
export const TYPES: readonly (SchemaType | undefined)[] = [undefined, 'PROTOCOL_BUFFER', 'AVRO'];
const ENCODINGS: readonly (Encoding | undefined)[] = [undefined, 'JSON', 'BINARY'];

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

/** Setting fields allowed in a mask, each with its value from the request. */
const UPDATABLE: Readonly<Record<string, (wire: WireSchemaSettings) => WireSchemaSettings>> = {
  schema: ({ schema }) => ({ schema: schema ?? '' }),
  encoding: ({ encoding }) => ({ encoding: encoding ?? 0 }),
  first_revision_id: ({ firstRevisionId }) => ({ firstRevisionId: firstRevisionId ?? '' }),
  last_revision_id: ({ lastRevisionId }) => ({ lastRevisionId: lastRevisionId ?? '' }),
};

/** The settings with these fields replaced. */
export function updatedSettings(
  before: SchemaSettings | undefined,
  wire: WireSchemaSettings | null | undefined,
  fields: readonly string[],
): SchemaSettings | undefined {
  const changes = fields.map((field) => {
    const change = Object.hasOwn(UPDATABLE, field) ? UPDATABLE[field] : undefined;
    if (change) return change(wire ?? {});
    throw invalid(`Invalid update_mask provided: 'schema_settings.${field}' is not a field of a topic.`);
  });
  const settings = schemaSettingsFrom(Object.assign({}, before && settingsToWire(before), ...changes));
  const kept = (field: string, bound: 'firstRevision' | 'lastRevision') =>
    fields.includes(field) ? settings?.[bound] : before?.[bound];
  return (
    settings && {
      ...settings,
      firstRevision: kept('first_revision_id', 'firstRevision'),
      lastRevision: kept('last_revision_id', 'lastRevision'),
    }
  );
}

export function settingsToWire(settings: SchemaSettings): WireSchemaSettings {
  return {
    schema: settings.name,
    encoding: ENCODINGS.indexOf(settings.encoding),
    firstRevisionId: boundToWire(settings.firstRevision),
    lastRevisionId: boundToWire(settings.lastRevision),
  };
}

function boundToWire(bound: RevisionBound | undefined): string {
  return typeof bound === 'object' ? DELETED_REVISION : (bound ?? '');
}
