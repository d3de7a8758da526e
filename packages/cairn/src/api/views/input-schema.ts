/** Input schema of a workflow as JSON Schema, for forms. */
import type { Json } from '../../core/encoding/json.ts';
import { jsonSchemaOf } from '../../engine/define/data-schema.ts';
import type { Workflow } from '../../engine/define/steps.ts';

/** Largest schema as JSON; a larger one is omitted. */
export const MAX_SCHEMA_CHARS = 100_000;

/** Undefined: too long, or the schema cannot be converted. */
export function inputSchemaOf({ input }: Pick<Workflow, 'input'>): Json | undefined {
  const schema = jsonSchemaOf(input);
  return JSON.stringify(schema ?? '').length > MAX_SCHEMA_CHARS ? undefined : schema;
}
