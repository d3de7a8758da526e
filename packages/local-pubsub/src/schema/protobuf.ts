/** Schemas in Protocol Buffers: a file with one message, messages in binary or in protobuf's JSON. */
import protobuf from 'protobufjs';
import type { Definition, Encoding } from './definition.ts';
import { jsonOf } from './json.ts';
import { checkBinary } from './protobuf-binary.ts';
import { checkJson } from './protobuf-json.ts';
import { requireOptions } from './protobuf-options.ts';
import { requireRules } from './protobuf-rules.ts';

/** Parsing takes time that grows with the square of the number of fields; this number takes about a second. */
const MAX_FIELDS = 2000;

export function protobufDefinition(text: string): Definition {
  const fields = text.match(/=\s*\d+\s*[;[]/g)?.length ?? 0;
  if (fields > MAX_FIELDS) throw new Error(`it has more than ${MAX_FIELDS} fields`);
  const root = new protobuf.Root();
  const { imports, weakImports } = parsed(text, root);
  if ((imports?.length ?? 0) + (weakImports?.length ?? 0) > 0) throw new Error('it imports another file');
  root.resolveAll();
  const [message, ...more] = messagesOf(root);
  if (message === undefined || more.length > 0) {
    throw new Error(`it must have one message at its top; it has ${more.length + (message ? 1 : 0)}`);
  }
  requireOptions('File', 'the file', root.options);
  requireRules(root, editionOf(message) === 'proto3');
  return new ProtobufDefinition(message);
}

/** Text that is an invalid token everywhere in a definition. */
const END_MARK = '\n…';

/** Replaces the parser's unclear error at the end of the text, which it treats as a token `null`. */
function parsed(text: string, root: protobuf.Root): protobuf.IParserResult {
  try {
    return protobuf.parse(text, root, { keepCase: true });
  } catch (error) {
    const isAtEnd = error instanceof TypeError || String(error) !== String(failureOf(`${text}${END_MARK}`));
    throw isAtEnd ? new Error('it ends in the middle of a declaration', { cause: error }) : error;
  }
}

/** Error of the parser; undefined if there is none. An error before the end of the text does not depend on what follows. */
function failureOf(text: string): unknown {
  try {
    protobuf.parse(text, new protobuf.Root(), { keepCase: true });
    return undefined;
  } catch (error) {
    return error;
  }
}

/** protobufjs has this member but does not declare it. */
const editionOf = (message: protobuf.Type) => (message as { _edition?: string })._edition;

/** Messages of all packages. */
function messagesOf(namespace: protobuf.NamespaceBase): protobuf.Type[] {
  return namespace.nestedArray.flatMap((nested) => {
    if (nested instanceof protobuf.Type) return [nested];
    return nested instanceof protobuf.Namespace ? messagesOf(nested) : [];
  });
}

class ProtobufDefinition implements Definition {
  readonly #message: protobuf.Type;

  constructor(message: protobuf.Type) {
    this.#message = message;
  }

  check(data: Uint8Array, encoding: Encoding): void {
    if (encoding === 'BINARY') checkBinary(this.#message, data);
    else checkJson(this.#message, jsonOf(data, 'refused'));
  }

  /** Optional fields may be added and removed; all others must stay unchanged. */
  requireFollows(before: Definition): void {
    if (!(before instanceof ProtobufDefinition)) throw new Error('the type of a schema cannot change');
    if (this.#message.fullName !== before.#message.fullName)
      throw new Error('its message has a different name');
    requireSameFields(before.#message, this.#message);
  }
}

function requireSameFields(before: protobuf.Type, after: protobuf.Type): void {
  const ids = [...before.fieldsArray, ...after.fieldsArray].map(({ id }) => id);
  for (const id of new Set(ids)) requireSame(before.fieldsById[id], after.fieldsById[id]);
  for (const nested of before.nestedArray) {
    const now = after.nested?.[nested.name];
    if (nested instanceof protobuf.Type && now instanceof protobuf.Type) requireSameFields(nested, now);
  }
}

function requireSame(before: protobuf.Field | undefined, after: protobuf.Field | undefined): void {
  const field = before ?? after;
  if (field === undefined) return;
  const optional = !field.required && !field.repeated && !field.map;
  if (before === undefined || after === undefined) {
    if (!optional) throw new Error(`the field ${field.name} is not optional: it cannot be added or removed`);
  } else if (shapeOf(before) !== shapeOf(after)) {
    throw new Error(`the field ${before.name} changed`);
  }
}

const shapeOf = (field: protobuf.Field) =>
  JSON.stringify([
    field.name,
    field.type,
    field.required,
    field.repeated,
    field instanceof protobuf.MapField && field.keyType,
    field.partOf?.name,
  ]);
