/** Description of an operation: only what its name, the schemas and the common parts of all operations do not tell. */
import type { ErrorCode } from '../../../core/errors.ts';
import type { Role } from '../../../ports/access/client-store.ts';
import { comparedText, limit, type QueryTable, text, time, vocabulary } from '../../parameters.ts';
import * as bodies from '../schemas/bodies.ts';
import type { SchemaName } from '../schemas/named.ts';

/** The schemas of request bodies, by name. */
export const BODIES = { ...bodies };
export type BodyName = keyof typeof BODIES;

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
  /** Query parameters by name. */
  readonly query?: QueryTable;
  /** Query parameters are not checked, because probes add their own. */
  readonly ignoresQuery?: true;
  /** It may read hundreds of documents, so it is queued like every paged list. */
  readonly readsMany?: true;
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

export function partsOf(name: string): readonly [method: Method, path: string] {
  return name.split(' ') as [Method, string];
}

/** Query parameter of routes that return the status of a run. */
export const VOCABULARY = {
  vocabulary: vocabulary('Vocabulary of `status` in the response.'),
} as const;

/** Query parameters that select runs of any status and time. */
export const OF_RUNS = {
  type: comparedText('Only runs of this workflow.'),
  repoId: comparedText('Only runs for this repository.'),
  threadId: comparedText('Only runs of this thread.'),
  tag: comparedText('Only runs with this tag, such as `customer:42`.'),
} as const;

/** Query parameters that select runs of a list. */
export const WHICH_RUNS = {
  status: text(
    'Only runs with this status, or one of several separated by commas, in any vocabulary or in the one that `vocabulary` names. A waiting status also matches runs that wait while other branches are running.',
  ),
  waitsFor: text(
    'Only runs with an open wait of this kind, whatever their status: `awaiting_approval` or `waiting_external`.',
  ),
  ...OF_RUNS,
  since: time('Only runs created at this time or later.'),
  until: time('Only runs created before this time.'),
} as const;

/** Query parameters of paged lists. */
export const PAGE = {
  limit: limit('Items per page.'),
  cursor: text('`next` of the previous page.'),
} as const;
