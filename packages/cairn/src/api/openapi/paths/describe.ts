/** Description of an operation: only what its name, the schemas and the common parts of all operations do not tell. */
import type { ErrorCode } from '../../../core/errors.ts';
import { VOCABULARIES } from '../../../core/run/vocabulary.ts';
import type { Role } from '../../../ports/access/client-store.ts';
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../query.ts';
import type { BodyName } from '../schemas/bodies/all.ts';
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
  readonly body?: BodyName;
  /** No idempotency key is stored, because the route changes nothing or repetitions give the same response. Default: by the method. */
  readonly keyed?: false;
  /** Responses by status, except problems and the 202 of every mutation. */
  readonly answers: Readonly<Record<number, AnswerDescription>>;
  /** Error codes, besides those that every route, every mutation or every path with parameters may return. */
  readonly refusals?: readonly ErrorCode[];
}

/** By method and path. */
export type OperationTable = Readonly<Record<`${Method} /v1/${string}`, ApiOperation>>;

/** Method and path of an operation. */
export function partsOf(name: string): readonly [method: Method, path: string] {
  return name.split(' ') as [Method, string];
}

/** Query parameter of routes that return the status of a run. */
export const WORDS = {
  vocabulary: `Vocabulary of \`status\` in the response: ${VOCABULARIES.join(', ')}. Default: ${VOCABULARIES[0]}.`,
} as const;

/** Query parameters by which runs are selected. */
export const OF_RUNS = {
  type: 'Only runs of this workflow.',
  repoId: 'Only runs for this repository.',
  threadId: 'Only runs of this thread.',
  tag: 'Only runs with this tag, such as `customer:42`.',
} as const;

/** Query parameters of paged lists. */
export const PAGE = {
  limit: `Items per page: 1 to ${MAX_LIMIT}, default ${DEFAULT_LIMIT}.`,
  cursor: '`next` of the previous page.',
} as const;
