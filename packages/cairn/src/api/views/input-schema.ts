/** Input schema of a workflow as JSON Schema, for forms. */
import { z } from 'zod';
import type { Json } from '../../core/encoding/json.ts';
import type { Workflow } from '../../engine/define/steps.ts';

/** Largest schema as JSON; a larger one is omitted. */
export const MAX_SCHEMA_CHARS = 100_000;

/**
 * The schema leaves open what JSON Schema cannot express, so it may allow more than the workflow does, never less. Undefined: too long, or
 * the schema cannot be converted.
 */
export function inputSchemaOf({ input }: Pick<Workflow, 'input'>): Json | undefined {
  try {
    const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
    const text = JSON.stringify(schema);
    return text.length > MAX_SCHEMA_CHARS ? undefined : (JSON.parse(text) as Json);
  } catch {
    // A schema of the author's own making; the start says what is wrong with an input.
    return undefined;
  }
}
