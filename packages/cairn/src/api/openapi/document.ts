/**
 * The OpenAPI 3.1 document: the table of routes, the schemas, and the parts shared by all routes. It is generated from the
 * code, so that the two cannot differ.
 */
import { z } from 'zod';
import type { Json } from '../../core/encoding/json.ts';
import { ERROR_CODES, type ErrorCode } from '../../core/errors.ts';
import { OPERATIONS } from './paths/all.ts';
import {
  type AnswerDescription,
  type ApiOperation,
  BODIES,
  type BodyName,
  type Method,
  partsOf,
} from './paths/describe.ts';
import { NAMED } from './schemas/named.ts';

type DocumentPart = { readonly [name: string]: Json };

export interface OpenApiOperation extends DocumentPart {
  readonly operationId: string;
  readonly summary: string;
}

export interface OpenApi {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly security: DocumentPart[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, DocumentPart>>;
    readonly securitySchemes: DocumentPart;
  };
}

const REF = '#/components/schemas/';
const OF_ALL: readonly ErrorCode[] = ['URI_TOO_LONG', 'HEADERS_TOO_LARGE'];
const OF_CALLERS: readonly ErrorCode[] = [
  'INVALID_INPUT',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'RATE_LIMITED',
  'UNAVAILABLE',
  'DATA_DAMAGED',
  'STORE_REFUSED',
  'INTERNAL',
];
const OF_BODIES: readonly ErrorCode[] = ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];
const OF_MUTATIONS: readonly ErrorCode[] = ['IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_KEY_REUSED'];
const IDEMPOTENCY_KEY: DocumentPart = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Identifies the request. A repetition with the same key is not performed again.',
  schema: { type: 'string' },
};
const DESCRIPTION = [
  'Durable runs. Every mutation takes an idempotency key: a request repeated with the same key is performed once and gets',
  'the same response. Errors are problem details with a stable `code`. New members may be added to any response.',
].join(' ');

/** @param version of the deployed functions */
export function openApi(version: string): OpenApi {
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const [name, operation] of Object.entries(OPERATIONS)) {
    const [method, path] = partsOf(name);
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(path, method, operation) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Cairn', version, description: DESCRIPTION },
    // Relative to the URL from which the document was read.
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    tags: [...new Set(Object.keys(paths).map(tagOf))].map((name) => ({ name })),
    paths,
    components: {
      schemas: schemas(),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, `cairn_<client>_<secret>`, or a Firebase ID token.',
        },
      },
    },
  };
}

function operationOf(path: string, method: Method, operation: ApiOperation): OpenApiOperation {
  const { query = {}, body, refusals = [] } = operation;
  const isMutation = method !== 'GET' && operation.keyed !== false;
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
    ...Object.entries(query).map(([name, { description, schema, required }]) => ({
      name,
      in: 'query',
      ...(required && { required }),
      description,
      schema,
    })),
    ...(isMutation ? [IDEMPOTENCY_KEY] : []),
  ];
  return {
    operationId: operation.id,
    summary: operation.summary,
    tags: [tagOf(path)],
    ...(operation.role === 'open'
      ? { security: [], description: 'Requires no credentials.' }
      : { description: `Requires the role ${operation.role} or higher.` }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: bodyOf(body) }),
    responses: responsesOf(operation, [...commonCodes(path, operation, isMutation), ...refusals], isMutation),
  };
}

function tagOf(path: string): string {
  return path.split('/')[2] ?? '';
}

/** A body that may be an empty object is optional. */
function bodyOf(name: BodyName): DocumentPart {
  return {
    required: !BODIES[name].safeParse({}).success,
    content: { 'application/json': { schema: { $ref: REF + name } } },
  };
}

function responsesOf(
  { answers: described }: ApiOperation,
  codes: readonly ErrorCode[],
  isMutation: boolean,
): DocumentPart {
  const answers = Object.entries(described).map(([status, answer]) => [
    status,
    { ...answerOf(answer), ...(isMutation ? { headers: REPLAYED } : {}) },
  ]);
  const inFlight = answerOf({ what: 'The same request is in progress', schema: 'InFlight' });
  return {
    ...problems(codes),
    ...(isMutation ? { 202: inFlight } : {}),
    ...Object.fromEntries(answers),
  };
}

const REPLAYED: DocumentPart = {
  'Idempotency-Replayed': {
    description: '`true` if the response is that of an earlier request with the same key.',
    schema: { type: 'string', const: 'true' },
  },
};

function answerOf({ what, schema, media = 'application/json' }: AnswerDescription): DocumentPart {
  return {
    description: what,
    content: { [media]: schema === undefined ? {} : { schema: { $ref: REF + schema } } },
  };
}

/** Error codes that follow from the path, the role, the body and the idempotency key. */
function commonCodes(path: string, { role, body }: ApiOperation, isMutation: boolean): readonly ErrorCode[] {
  if (role === 'open') return OF_ALL;
  return [
    ...OF_ALL,
    ...OF_CALLERS,
    ...(body === undefined ? [] : OF_BODIES),
    ...(isMutation ? OF_MUTATIONS : []),
    ...missingCodes(path),
  ];
}

/** Error codes for a missing resource: the one that the path names first. */
function missingCodes(path: string): readonly ErrorCode[] {
  if (!path.includes('{')) return [];
  return [path.startsWith('/v1/runs/{id}') ? 'RUN_NOT_FOUND' : 'NOT_FOUND'];
}

/** Error responses by status, each code with its title. */
function problems(codes: readonly ErrorCode[]): DocumentPart {
  const byStatus = Map.groupBy(codes, (code) => ERROR_CODES[code].httpStatus);
  return Object.fromEntries(
    [...byStatus].map(([status, those]) => [
      status,
      {
        description: those.map((code) => `${code}: ${ERROR_CODES[code].title}`).join('; '),
        content: { 'application/problem+json': { schema: { $ref: `${REF}Problem` } } },
      },
    ]),
  );
}

/** Schemas as sent: members with a default are optional, and answers may gain members. */
function schemas(): Record<string, DocumentPart> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(NAMED)) registry.add(schema, { id });
  const made = z.toJSONSchema(registry, {
    io: 'input',
    uri: (id) => REF + id,
    override: ({ jsonSchema }) => {
      // `format` says the same, and the long pattern is not part of the contract.
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
    },
  });
  return Object.fromEntries(
    Object.entries(made.schemas).map(([id, { $schema, $id, ...schema }]) => [id, plain(schema)]),
  );
}

/** Drops members that JSON cannot carry: the library attaches hidden ones to schemas. */
function plain(schema: object): DocumentPart {
  return JSON.parse(JSON.stringify(schema)) as DocumentPart;
}
