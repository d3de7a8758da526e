/** The target of a queue, which overrides that of its HTTP tasks (`http_target` of the beta versions). Plain values. */
import type { HttpMethod } from '../model.ts';

export interface HttpTarget {
  readonly uri?: UriOverride | undefined;
  readonly method?: HttpMethod | undefined;
  readonly headers: readonly HeaderOverride[];
  readonly oidc?: { readonly serviceAccountEmail: string; readonly audience: string } | undefined;
  readonly oauth?: { readonly serviceAccountEmail: string; readonly scope: string } | undefined;
}

export interface HeaderOverride {
  readonly key: string;
  readonly value: string;
}

/** Absent members keep the task's own; an empty path or query and port 0 remove it. */
export interface UriOverride {
  readonly scheme?: UriScheme | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly path?: string | undefined;
  readonly query?: string | undefined;
  /** True: only sets parts that the task's URL lacks. */
  readonly isFallback: boolean;
}

/** In the order of the protocol's enum; unspecified is https. */
export const URI_SCHEMES = ['unspecified', 'http', 'https'] as const;
type UriScheme = (typeof URI_SCHEMES)[number];
