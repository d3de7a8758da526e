/** Schemas in Avro: the definition as JSON, messages in Avro's JSON or binary encoding. */
import { createRequire } from 'node:module';
import type avro from 'avsc';
import { checkAvroBinary } from './avro-binary.ts';
import { checkAvroJson } from './avro-json.ts';
import type { AvroShape } from './avro-shape.ts';
import type { Definition, Encoding } from './definition.ts';
import { jsonOf } from './json.ts';

type AvroReader = (definition: unknown) => avro.Type;

const require = createRequire(import.meta.url);
let reader: AvroReader | undefined;

export function avroDefinition(text: string): Definition {
  // Loaded with the first schema, because few programs need it and it would delay every start.
  reader ??= readerWith(require('avsc') as typeof avro);
  return new AvroDefinition(reader(JSON.parse(text)));
}

function readerWith({ Type, types }: typeof avro): AvroReader {
  const long = types.LongType.__with(WHOLE, false);
  // avsc does not look up `{"type":"long"}`, the long form of the same type, in the registry.
  const typeHook = (schema: unknown) => {
    requireAliases(schema);
    return isObject(schema) && schema.type === 'long' ? long : undefined;
  };
  // A separate registry for each, because avsc adds the names of the definition to it.
  return (definition) =>
    Type.forSchema(definition as avro.Schema, { registry: { long }, noAnonymousTypes: true, typeHook });
}

/** Checks aliases of fields, because avsc checks only those of types. */
function requireAliases(schema: unknown): void {
  if (!isObject(schema) || !Array.isArray(schema.fields)) return;
  for (const { aliases = [] } of schema.fields.filter(isObject)) {
    if (!Array.isArray(aliases) || aliases.some((alias) => typeof alias !== 'string')) {
      throw new Error('the aliases of a field are not a list of names');
    }
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A 64-bit integer. Values beyond 2^53, which a JavaScript number cannot represent, are valid too. */
const WHOLE = {
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer(value: bigint) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(value);
    return bytes;
  },
  fromJSON(value: unknown) {
    const integer = Number.isInteger(value) ? BigInt(value as number) : undefined;
    if (integer === undefined || BigInt.asIntN(64, integer) !== integer) throw new Error('invalid "long"');
    return integer;
  },
  toJSON: Number,
  isValid: (value: unknown) => typeof value === 'bigint' && BigInt.asIntN(64, value) === value,
  compare: (a: bigint, b: bigint) => (a === b ? 0 : a < b ? -1 : 1),
};

class AvroDefinition implements Definition {
  readonly #type: avro.Type;

  constructor(type: avro.Type) {
    this.#type = type;
  }

  check(data: Uint8Array, encoding: Encoding): void {
    if (encoding === 'BINARY') checkAvroBinary(this.#type, data);
    else checkAvroJson(this.#type as unknown as AvroShape, jsonOf(data, 'first'));
  }

  /** Checked both as the reader's and as the writer's schema. */
  requireFollows(before: Definition): void {
    if (!(before instanceof AvroDefinition)) throw new Error('the type of a schema cannot change');
    this.#type.createResolver(before.#type);
    before.#type.createResolver(this.#type);
  }
}
