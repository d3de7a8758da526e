/**
 * Types of the API's routes, derived from its own table: a call of an unknown route, without a required parameter, or
 * with an unknown member, does not compile. Types only: nothing of the functions is loaded.
 */
import type { z } from 'zod';
import type { PATHS, Path } from './paths/all.ts';
import type { NAMED, SchemaName } from './schemas/named.ts';

type RouteTable = typeof PATHS;

export type { Path };

/** Type of the responses with this schema name. */
export type Answer<N extends SchemaName> = z.output<(typeof NAMED)[N]>;

export type PathWith<M extends string> = { [P in Path]: M extends keyof RouteTable[P] ? P : never }[Path];

export type OperationAt<M extends string, P extends Path> = M extends keyof RouteTable[P]
  ? RouteTable[P][M]
  : never;

/** Members in braces. */
export type ParamsOf<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & ParamsOf<Rest>
  : unknown;

export type QueryOf<M extends string, P extends Path> =
  OperationAt<M, P> extends { readonly query: infer Q }
    ? { readonly [K in keyof Q]?: string | undefined }
    : Readonly<Record<string, never>>;

export type BodyOf<M extends string, P extends Path> =
  OperationAt<M, P> extends { readonly body: infer N extends SchemaName }
    ? z.input<(typeof NAMED)[N]>
    : Readonly<Record<string, never>>;

export type AnswerOf<M extends string, P extends Path> =
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
