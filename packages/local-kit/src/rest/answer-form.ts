/**
 * The form in which a caller asks for an answer, by the system parameters of Google's APIs
 * (docs.cloud.google.com/apis/docs/system-parameters). Pure.
 */
import protobuf from 'protobufjs';
import { camelCase, hasJsonOfItsOwn, JsonShapeError } from '../wire/proto-json.ts';

/** About the caller or the form of the answer: no call has such a field. */
const SYSTEM =
  /^(?:\$.*|alt|key|pp|prettyPrint|fields|(?:access|oauth|bearer)_token|callback|quotaUser|upload.*)$/;
/** The depth of protobuf's own parsers. */
const MAX_DEPTH = 100;

export const isSystemParameter = (name: string): boolean => SYSTEM.test(name);

/** The members of a message that the caller asks for. */
interface FieldsMask {
  readonly isWhole: boolean;
  /** `*` stands for every member. */
  readonly members: ReadonlyMap<string, FieldsMask>;
}

interface OpenMask extends FieldsMask {
  isWhole: boolean;
  readonly members: Map<string, OpenMask>;
}

/**
 * The mask that `fields` is; undefined: there is none, and all of an answer is kept.
 *
 * @throws JsonShapeError for a form that is not served, or a member that the answer cannot have
 */
export function fieldsMask(type: protobuf.Type, query: URLSearchParams): FieldsMask | undefined {
  const form = query.get('$alt') ?? query.get('alt') ?? 'json';
  if (!/^json(?:;|$)/.test(form)) throw new JsonShapeError(`Answers are JSON: "alt=${form}" is not served.`);
  if (query.has('callback')) throw new JsonShapeError('Answers are JSON: "callback" is not served.');
  const text = query.get('$fields') ?? query.get('fields') ?? '';
  if (text === '') return undefined;
  return ofType(type, parse(text), []);
}

/** The part of a message in JSON that the mask keeps. */
export function kept(json: unknown, mask: FieldsMask): unknown {
  if (mask.isWhole || typeof json !== 'object' || json === null) return json;
  if (Array.isArray(json)) return json.map((one) => kept(one, mask));
  const parts = Object.entries(json).flatMap(([name, value]) => {
    const inner = mask.members.get(name) ?? mask.members.get('*');
    return inner ? [[name, kept(value, inner)]] : [];
  });
  return Object.fromEntries(parts) as object;
}

/** The grammar is `a/b,c(d,e/f)`, in which a dot separates as a slash does. */
function parse(text: string): FieldsMask {
  const tokens = text.match(/[^/.,()]+|[/.,()]/g) ?? [];
  let at = 0;
  const malformed = () => new JsonShapeError(`Invalid field mask "${text.slice(0, 100)}".`);
  const list = (mask: OpenMask, depth: number): void => {
    do path(mask, depth);
    while (tokens[at] === ',' && ++at);
  };
  const path = (mask: OpenMask, depth: number): void => {
    const name = tokens[at++] ?? '';
    if (/^[/.,()]?$/.test(name) || depth > MAX_DEPTH) throw malformed();
    const inner = memberOf(mask, name);
    const sign = tokens[at] ?? '';
    if (/^[/.]$/.test(sign)) {
      at++;
      path(inner, depth + 1);
    } else if (sign === '(') {
      at++;
      list(inner, depth + 1);
      if (tokens[at++] !== ')') throw malformed();
    } else inner.isWhole = true;
  };
  const root: OpenMask = { isWhole: false, members: new Map() };
  list(root, 0);
  if (at < tokens.length) throw malformed();
  return root;
}

function memberOf({ members }: OpenMask, name: string): OpenMask {
  const member = members.get(name) ?? { isWhole: false, members: new Map() };
  members.set(name, member);
  return member;
}

/** The mask with the members' names in JSON. */
function ofType(type: protobuf.Type, { isWhole, members }: FieldsMask, above: readonly string[]): FieldsMask {
  const named = [...members].map(([name, mask]): [string, FieldsMask] => {
    const field = Object.hasOwn(type.fields, camelCase(name)) ? type.fields[camelCase(name)] : undefined;
    if (name === '*') return [name, mask];
    if (!field) throw unknownMember([...above, name]);
    return [field.name, ofField(field.resolve(), mask, [...above, name])];
  });
  return { isWhole, members: new Map(named) };
}

/** The members of a map are its keys, which are any. */
function ofField(field: protobuf.Field, mask: FieldsMask, path: readonly string[]): FieldsMask {
  const { resolvedType } = field;
  const values = (below: FieldsMask, above: readonly string[]): FieldsMask => {
    if (below.members.size === 0) return below;
    if (resolvedType instanceof protobuf.Type && !hasJsonOfItsOwn(resolvedType))
      return ofType(resolvedType, below, above);
    throw unknownMember([...above, ...below.members.keys()]);
  };
  if (!field.map) return values(mask, path);
  const keys = [...mask.members].map(([key, below]) => [key, values(below, [...path, key])] as const);
  return { ...mask, members: new Map(keys) };
}

const unknownMember = (path: readonly string[]) =>
  new JsonShapeError(
    `Error expanding 'fields' parameter. Cannot find matching fields for path '${path.join('.')}'.`,
  );
