/**
 * The shape of a Zod schema: its members and their kinds. Walks the part of a schema that Zod documents for libraries
 * (`_zod.def`). `z.toJSONSchema` is not used: its output changes with the version of Zod, and it throws for schemas that JSON
 * Schema cannot express.
 *
 * Must not: throw, whatever it is given; what cannot be read is `unknown`.
 */
import type { Shape } from '../../core/plan/plan.ts';

/** Depth limit, because recursive schemas (getters) have no end. */
const MAX_DEPTH = 12;
/** Maximum number of parts of one schema; further parts are omitted. */
const MAX_PARTS = 2_000;

interface Def {
  readonly type?: unknown;
  readonly [part: string]: unknown;
}

export function shapeOf(schema: unknown): Shape {
  let parts = 0;
  return shape(schema, 0);

  function shape(given: unknown, depth: number): Shape {
    parts += 1;
    if (parts > MAX_PARTS || depth > MAX_DEPTH) return 'more';
    try {
      const def = (given as { readonly _zod?: { readonly def?: Def } } | undefined)?._zod?.def;
      return def === undefined ? 'unknown' : shapeFrom(def, (inner) => shape(inner, depth + 1));
    } catch {
      return 'unknown';
    }
  }
}

function shapeFrom(def: Def, inner: (schema: unknown) => Shape): Shape {
  const type = String(def.type);
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(def.shape as Record<string, unknown>).map(([name, member]) => [name, inner(member)]),
      );
    case 'array':
      return [type, inner(def.element)];
    case 'record':
    case 'map':
      return [type, inner(def.keyType), inner(def.valueType)];
    case 'set':
      return [type, inner(def.valueType)];
    case 'union':
      return [type, ...(def.options as readonly unknown[]).map(inner)];
    case 'intersection':
      return [type, inner(def.left), inner(def.right)];
    case 'tuple':
      return [type, ...(def.items as readonly unknown[]).map(inner), ...(def.rest ? [inner(def.rest)] : [])];
    case 'pipe':
      return [type, inner(def.in), inner(def.out)];
    case 'readonly':
      return inner(def.innerType);
    default:
      return 'innerType' in def ? [type, inner(def.innerType)] : type;
  }
}
