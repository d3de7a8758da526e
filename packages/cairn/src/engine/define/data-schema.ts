/** JSON Schema of what a Zod schema takes, for forms. */
import { type ZodType, z } from 'zod';
import { canonicalJson, type Json } from '../../core/encoding/json.ts';

/** Longest schema kept with a wait, UTF-8 bytes: it is stored in the journal and in the snapshot. */
const MAX_DATA_SCHEMA_BYTES = 8 * 1024;
/** Takes any JSON. */
const ANY = '{}';

/**
 * The schema leaves open what JSON Schema cannot express, so it may allow more than the Zod schema does, never less. Undefined: it cannot be
 * converted.
 */
export function jsonSchemaOf(schema: ZodType): Json | undefined {
  try {
    return JSON.parse(
      JSON.stringify(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })),
    ) as Json;
  } catch {
    // An invalid schema of the author; the check of a value reports it.
    return undefined;
  }
}

const texts = new WeakMap<ZodType, string>();

/** Undefined without a schema. One that is too long or cannot be converted is replaced by one that allows anything. */
export function dataSchemaText(schema: ZodType | undefined): string | undefined {
  if (!schema) return undefined;
  let text = texts.get(schema);
  if (text === undefined) {
    const made = canonicalJson(jsonSchemaOf(schema) ?? {});
    text = Buffer.byteLength(made) > MAX_DATA_SCHEMA_BYTES ? ANY : made;
    texts.set(schema, text);
  }
  return text;
}
