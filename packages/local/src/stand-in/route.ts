/** Routes of a stand-in for an external service, named as in its documentation. Owns their matching. */
import type { StandInStore } from './store.ts';

export interface StandInRequest {
  /** The parts of the path in braces, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Parsed JSON; undefined without a body. */
  readonly body: unknown;
  /** URL of the stand-in, without a slash at the end. */
  readonly url: string;
  /** Epoch ms. */
  readonly now: number;
}

export interface StandInReply {
  readonly status: number;
  /** JSON; a text is sent as it is. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface StandInRoute {
  /** E.g. `POST /repos/{owner}/{repo}/issues/{issue_number}/comments`. */
  readonly name: string;
  /** A successful call counts as applied. */
  readonly changes: boolean;
  /** Runs inside a transaction. */
  answer(request: StandInRequest, store: StandInStore): StandInReply;
}

export interface Matched {
  readonly route: StandInRoute;
  readonly params: Readonly<Record<string, string>>;
}

type RouteMatcher = (method: string, pathname: string) => Matched | undefined;

export function matcher(routes: readonly StandInRoute[]): RouteMatcher {
  const patterns = routes.map((route) => {
    const [method = '', path = ''] = route.name.split(' ');
    const source = path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)');
    return { route, method, pattern: new RegExp(`^${source}$`) };
  });
  return (method, pathname) => {
    for (const { route, method: own, pattern } of patterns) {
      const match = own === method ? pattern.exec(pathname) : null;
      if (match) return { route, params: decoded(match.groups ?? {}) };
    }
    return undefined;
  };
}

function decoded(groups: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(groups).map(([name, text]) => [name, decode(text)]));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
