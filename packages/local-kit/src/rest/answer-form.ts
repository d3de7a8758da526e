/**
 * The requested form of an answer, by the system parameters of Google's APIs
 * (docs.cloud.google.com/apis/docs/system-parameters). Pure.
 */
import protobuf from 'protobufjs';
import { camelCase, hasJsonOfItsOwn, JsonShapeError } from '../wire/proto-json.ts';

/** Parameters about the caller or the form of the answer, which are not fields of any call. */
const SYSTEM =
  /^(?:\$.*|alt|key|pp|prettyPrint|fields|(?:access|oauth|bearer)_token|callback|quotaUser|upload.*)$/;
/** The depth of protobuf's own parsers. */
const MAX_DEPTH = 100;
/** Most characters of the request in an error. */
const MAX_SHOWN = 100;

export const isSystemParameter = (name: string): boolean => SYSTEM.test(name);

/** The requested members of a message. */
interface FieldsMask {
  readonly isWhole: boolean;
  /** Masks by JSON name; a member with several spellings has several masks. `*` applies to all members, including named ones. */
  readonly members: ReadonlyMap<string, readonly FieldsMask[]>;
}

/** A mask before names are resolved. */
interface WrittenMask {
  isWhole: boolean;
  readonly members: Map<string, WrittenMask>;
}

/**
 * Parses the parameter `fields`; undefined if it is missing, so that the whole answer is kept.
 *
 * @throws JsonShapeError for an unsupported form, or a member that the answer cannot have
 */
export function fieldsMask(type: protobuf.Type, query: URLSearchParams): FieldsMask | undefined {
  const values = (name: string) => [...query.getAll(`$${name}`), ...query.getAll(name)].filter(Boolean);
  const other = values('alt').find((form) => !/^json(?:;|$)/.test(form));
  if (other !== undefined) throw new JsonShapeError(`Answers are JSON: "alt=${shown(other)}" is not served.`);
  if (values('callback').length > 0) throw new JsonShapeError('Answers are JSON: "callback" is not served.');
  const text = values('fields').join(',');
  return text === '' ? undefined : ofType(type, parse(text), []);
}

/** The part of a JSON message that the mask keeps. */
export const kept = (json: unknown, mask: FieldsMask): unknown => keptBy([mask], json);

/**
 * Returns undefined if nothing is kept. Each part of a mask applies at one depth, so the masks never multiply.
 *
 * @param masks all masks that apply to this value
 */
function keptBy(masks: readonly FieldsMask[], json: unknown): unknown {
  if (masks.some(({ isWhole }) => isWhole)) return json;
  if (masks.length === 0 || typeof json !== 'object' || json === null) return undefined;
  if (Array.isArray(json)) return json.map((one) => keptBy(masks, one)).filter((one) => one !== undefined);
  const parts = Object.entries(json).flatMap(([name, value]) => {
    const inner = masks.flatMap(({ members }) => [...(members.get(name) ?? []), ...(members.get('*') ?? [])]);
    const part = keptBy(inner, value);
    return part === undefined ? [] : [[name, part]];
  });
  return Object.fromEntries(parts) as object;
}

/** Parses the grammar `a/b,c(d,e/f)`, in which a dot equals a slash. */
function parse(text: string): WrittenMask {
  const tokens = text.match(/[^/.,()]+|[/.,()]/g) ?? [];
  let at = 0;
  const malformed = () => new JsonShapeError(`Invalid field mask "${shown(text)}".`);
  const list = (mask: WrittenMask, depth: number): void => {
    do path(mask, depth);
    while (tokens[at] === ',' && ++at);
  };
  const path = (mask: WrittenMask, depth: number): void => {
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
  const root: WrittenMask = { isWhole: false, members: new Map() };
  list(root, 0);
  if (at < tokens.length) throw malformed();
  return root;
}

function memberOf({ members }: WrittenMask, name: string): WrittenMask {
  const member = members.get(name) ?? { isWhole: false, members: new Map() };
  members.set(name, member);
  return member;
}

/** Resolves the members to their JSON names. */
function ofType(type: protobuf.Type, mask: WrittenMask, above: readonly string[]): FieldsMask {
  return withMembers(mask, (name, below) => {
    if (name === '*') return [[name, ofAny(below)]];
    const field = Object.hasOwn(type.fields, camelCase(name)) ? type.fields[camelCase(name)] : undefined;
    if (!field) throw unknownMember([...above, name]);
    return [[field.name, ofField(field.resolve(), below, [...above, name])]];
  });
}

/** Names below `*` are not checked, because there may be several types, and maps with any key. Unknown names keep nothing. */
function ofAny(mask: WrittenMask): FieldsMask {
  return withMembers(mask, (name, below) => {
    const inner = ofAny(below);
    return [...new Set([name, camelCase(name)])].map((member) => [member, inner]);
  });
}

/** A map may have any key as a member. */
function ofField(field: protobuf.Field, mask: WrittenMask, path: readonly string[]): FieldsMask {
  const { resolvedType } = field;
  const values = (below: WrittenMask, above: readonly string[]): FieldsMask => {
    const [first] = below.members.keys();
    if (first === undefined) return { isWhole: below.isWhole, members: new Map() };
    if (resolvedType instanceof protobuf.Type && !hasJsonOfItsOwn(resolvedType))
      return ofType(resolvedType, below, above);
    throw unknownMember([...above, first]);
  };
  if (!field.map) return values(mask, path);
  return withMembers(mask, (key, below) => [[key, values(below, [...path, key])]]);
}

function withMembers(
  mask: WrittenMask,
  inJson: (name: string, below: WrittenMask) => readonly (readonly [string, FieldsMask])[],
): FieldsMask {
  const members = new Map<string, FieldsMask[]>();
  for (const [written, below] of mask.members) {
    for (const [name, inner] of inJson(written, below))
      members.set(name, [...(members.get(name) ?? []), inner]);
  }
  return { isWhole: mask.isWhole, members };
}

const unknownMember = (path: readonly string[]) =>
  new JsonShapeError(
    `Error expanding 'fields' parameter. Cannot find matching fields for path '${shown(path.join('.'))}'.`,
  );

const shown = (text: string) => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
