/**
 * Maps a REST request to its call and its request message as JSON, by the bindings (`google.api.http`) in the client's own protocol
 * description. Pure.
 */

import protobuf from 'protobufjs';
import { camelCase, fieldOf, JsonShapeError } from '../wire/proto-json.ts';
import { isSystemParameter } from './answer-form.ts';

export interface RestRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Parsed JSON; undefined without a body. */
  readonly body: unknown;
}

export interface RestCall {
  readonly name: string;
  readonly message: Record<string, unknown>;
}

interface RestBinding {
  readonly call: string;
  readonly type: protobuf.Type;
  readonly verb: string;
  readonly pattern: RegExp;
  /** True if the path ends in a verb such as `:commit`. */
  readonly hasOwnVerb: boolean;
  /** Fields by the pattern's groups, in order; may be nested, such as `document.name`. */
  readonly pathFields: readonly string[];
  readonly body: string | undefined;
}

interface Rule extends Readonly<Record<string, unknown>> {
  readonly body?: string;
  readonly additional_bindings?: Rule | readonly Rule[];
}

const VERBS = ['get', 'put', 'post', 'patch', 'delete'] as const;

/** HTTP bindings of all calls. Those with a verb come first, because `…/documents:commit` also matches a document pattern. */
export function bindingsOf(...services: readonly protobuf.Service[]): readonly RestBinding[] {
  const methods = services.flatMap((service) => service.methodsArray);
  const bindings = methods.flatMap((method) => {
    method.resolve();
    const options = (method.parsedOptions ?? []) as unknown as readonly Record<string, Rule>[];
    const rule = options.find((option) => option['(google.api.http)'])?.['(google.api.http)'];
    if (!rule) return [];
    const rules = [rule, ...[rule.additional_bindings ?? []].flat(), ...readOf(method, rule)] as Rule[];
    return rules.map((one) => bindingOf(method, one));
  });
  return bindings.sort((a, b) => Number(b.hasOwnVerb) - Number(a.hasOwnVerb));
}

/** Adds GET for reading a policy, which services support although the description of IAM does not list it. */
function readOf({ name }: protobuf.Method, { post }: Rule): readonly Rule[] {
  return name === 'GetIamPolicy' && String(post).includes('=**}') ? [{ get: post }] : [];
}

function bindingOf(method: protobuf.Method, rule: Rule): RestBinding {
  const verb = VERBS.find((name) => typeof rule[name] === 'string');
  if (!verb) throw new Error(`The protocol has no known HTTP binding for ${method.name}.`);
  const pathFields: string[] = [];
  const pattern = String(rule[verb]).replace(
    /\{([\w.]+)(?:=([^}]+))?\}|[.:]/g,
    (text, field?: string, shape = '*') => {
      if (field === undefined) return `\\${text}`;
      pathFields.push(field);
      const segments = shape.split('/').map((part: string) => {
        if (part === '**') return '.*';
        return part === '*' ? '[^/]+' : part;
      });
      // `documents/**` and `documents/*/**` match paths of any length.
      return `(${segments.join('/').replaceAll('/.*', '(?:/.*)?')})`;
    },
  );
  return {
    call: method.name,
    type: method.resolvedRequestType as protobuf.Type,
    verb: verb.toUpperCase(),
    pattern: new RegExp(`^${pattern}$`),
    hasOwnVerb: /:\w+$/.test(String(rule[verb])),
    pathFields,
    body: rule.body,
  };
}

/**
 * Returns undefined if no method is bound to the path.
 *
 * @param fits decides by the first value of the path if the patterns of several calls match
 * @throws JsonShapeError if the request does not match the message
 */
export function restCall(
  bindings: readonly RestBinding[],
  request: RestRequest,
  fits: (call: string, value: string) => boolean = () => true,
): RestCall | undefined {
  for (const binding of bindings) {
    if (binding.verb !== request.method) continue;
    const match = binding.pattern.exec(request.path);
    if (!match) continue;
    const values = match.slice(1).map(decoded);
    if (!fits(binding.call, values[0] ?? '')) continue;
    const message: Record<string, unknown> = {};
    if (binding.body === '*') Object.assign(message, objectOf(request.body ?? {}));
    else if (binding.body !== undefined) message[binding.body] = { ...objectOf(request.body ?? {}) };
    binding.pathFields.forEach((field, i) => {
      setPath(message, field, values[i]);
    });
    addQuery(binding.type, message, request.query);
    return { name: binding.call, message };
  }
  return undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new JsonShapeError(`The path cannot be decoded: ${text}`);
  }
}

function objectOf(body: unknown): object {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw new JsonShapeError('The body must be a JSON object.');
}

function setPath(message: Record<string, unknown>, path: string, value: unknown): void {
  const [head = '', ...rest] = path.split('.').map(camelCase);
  if (rest.length === 0) {
    message[head] = value;
    return;
  }
  const inner = { ...(message[head] as Record<string, unknown> | undefined) };
  message[head] = inner;
  setPath(inner, rest.join('.'), value);
}

function addQuery(type: protobuf.Type, message: Record<string, unknown>, query: URLSearchParams): void {
  for (const key of new Set(query.keys())) {
    if (isSystemParameter(key)) continue;
    const path = key.split('.').map(camelCase);
    let level = type;
    let field: protobuf.Field | undefined;
    for (const part of path) {
      if (field && !(field.resolvedType instanceof protobuf.Type)) break;
      if (field) level = field.resolvedType as protobuf.Type;
      field = fieldOf(level, part);
    }
    if (!field || fieldOf(level, path.at(-1) ?? '') !== field)
      throw new JsonShapeError(`Unknown name "${key}".`);
    const values = query.getAll(key).map((text) => parameterOf(field, text));
    setPath(message, path.join('.'), field.repeated ? values : values.at(-1));
  }
}

/** Clients write enums by name or by number. */
function parameterOf({ type, resolvedType }: protobuf.Field, text: string): unknown {
  if (resolvedType instanceof protobuf.Enum && /^\d+$/.test(text)) return Number(text);
  return type === 'bool' ? text === 'true' : text;
}
