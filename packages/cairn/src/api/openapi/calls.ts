/**
 * Types of the API's routes, derived from the table of operations: a call of an unknown route, without a required parameter, or
 * with an unknown member, does not compile. The file has only types, so importing it loads no code of the functions.
 */
import type { z } from 'zod';
import type { QueryParameter } from '../parameters.ts';
import type { OPERATIONS, OperationName } from './paths/all.ts';
import type { BODIES, BodyName } from './paths/describe.ts';
import type { NAMED, SchemaName } from './schemas/named.ts';

type DescribedOperations = typeof OPERATIONS;

/** Type of the responses with this schema name. */
export type Answer<N extends SchemaName> = z.output<(typeof NAMED)[N]>;

export type PathWith<M extends string, N = OperationName> = N extends `${M} ${infer P}` ? P : never;

/** Paths of all operations. */
export type Path = PathWith<string>;

type OperationAt<M extends string, P extends string> = `${M} ${P}` extends infer N extends OperationName
  ? DescribedOperations[N]
  : never;

/** Parameter names of a path: its members in braces. */
export type ParamsOf<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & ParamsOf<Rest>
  : unknown;

export type QueryOf<M extends string, P extends string> =
  OperationAt<M, P> extends { readonly query: infer Q }
    ? { readonly [K in keyof Q]?: string | SentOf<Q[K]> | undefined }
    : Readonly<Record<string, never>>;

/** A value that the client sends as text. */
type SentOf<P> = P extends QueryParameter<infer _, infer Sent> ? Sent : never;

export type BodyOf<M extends string, P extends string> =
  OperationAt<M, P> extends { readonly body: infer N extends BodyName }
    ? z.input<(typeof BODIES)[N]>
    : Readonly<Record<string, never>>;

export type AnswerOf<M extends string, P extends string> =
  OperationAt<M, P> extends { readonly answers: infer A }
    ? {
        [S in keyof A]: A[S] extends { readonly schema: infer N extends SchemaName } ? Answer<N> : unknown;
      }[keyof A]
    : never;

export type PagedPath = {
  [P in PathWith<'GET'>]: AnswerOf<'GET', P> extends { items: unknown[]; next?: string | undefined }
    ? P
    : never;
}[PathWith<'GET'>];

export type ItemOf<P extends PagedPath> = AnswerOf<'GET', P> extends { items: (infer I)[] } ? I : never;

export type ChangingMethod = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface PathParameters<P extends string> {
  readonly params?: ParamsOf<P>;
}

export type GetRequest<P extends PathWith<'GET'>> = PathParameters<P> & {
  readonly query?: QueryOf<'GET', P>;
};
/** The former name. */
export type { GetRequest as Question };

export type Change<M extends ChangingMethod, P extends PathWith<M>> = PathParameters<P> & {
  readonly query?: QueryOf<M, P>;
  readonly body?: BodyOf<M, P>;
};
