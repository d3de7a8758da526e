/** Description of a route: only what the schemas and the common parts of all routes do not tell. */
import type { ErrorCode } from '../../../core/errors.ts';
import { VOCABULARIES } from '../../../core/run/vocabulary.ts';
import type { Role } from '../../../ports/access/client-store.ts';
import type { SchemaName } from '../schemas/named.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface AnswerDescription {
  readonly what: string;
  readonly schema?: SchemaName;
  /** Default: JSON. */
  readonly media?: string;
}

export interface ApiOperation {
  /** Unique. Generated clients use it as the method name. */
  readonly id: string;
  readonly summary: string;
  /** Lowest role; `open`: public. */
  readonly role: Role | 'open';
  /** Parameters by name, with their meaning. */
  readonly query?: Readonly<Record<string, string>>;
  /** Parameters are not checked: probes add their own. */
  readonly ignoresQuery?: true;
  readonly body?: SchemaName;
  /** No idempotency key is stored, because the route changes nothing or repetitions give the same response. Default: by the method. */
  readonly keyed?: false;
  /** Responses by status, except problems and the 202 of every mutation. */
  readonly answers: Readonly<Record<number, AnswerDescription>>;
  /** Error codes, besides those that every route or every mutation may return. */
  readonly refusals?: readonly ErrorCode[];
}

export type PathTable = Readonly<Record<string, Readonly<Partial<Record<Method, ApiOperation>>>>>;

/** Query parameter of routes that return the status of a run. */
export const WORDS = {
  vocabulary: `Vocabulary of \`status\` in the response: ${VOCABULARIES.join(', ')}. Default: ${VOCABULARIES[0]}.`,
} as const;

/** Query parameters of paged lists. */
export const PAGE = {
  limit: 'Items per page: 1 to 100, default 20.',
  cursor: '`next` of the previous page.',
} as const;
