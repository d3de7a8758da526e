/** Finds the functions of an installation of Cairn, under whatever names they were exported. Pure. */
import type { FunctionSpec } from '../host/function-spec.ts';
import { SHOWN_PATH_CHARS, type Unserved } from './gateway.ts';
import { type Rewrite, sourceMatcher } from './rewrites.ts';

/** Paths of the installation, and the member that answers each. */
const PATHS = [
  { matches: sourceMatcher('/v1/**'), member: 'api' },
  { matches: sourceMatcher('/webhooks/github'), member: 'githubWebhook' },
  { matches: sourceMatcher('/webhooks/slack'), member: 'slackWebhook' },
] as const;

type Functions = ReadonlyMap<string, FunctionSpec>;

/** Names of the functions `api` of all installations, in order. The function with a store location is `drive` of its installation. */
export function apisAmong(functions: Functions): string[] {
  return prefixesAmong(functions).flatMap((prefix) =>
    functions.has(`${prefix}api`) ? [`${prefix}api`] : [],
  );
}

/** Rewrites to the functions of the first installation with one for the path. */
export function rewritesToInstallation(functions: Functions): Rewrite[] {
  const prefixes = prefixesAmong(functions);
  return PATHS.flatMap(({ matches, member }) => {
    const prefix = prefixes.find((one) => functions.has(one + member));
    if (prefix === undefined) return [];
    return [{ functionName: prefix + member, matches }];
  });
}

/** For a path of the installation that none of {@link rewritesToInstallation} matches. */
export function unservedOfInstallation(path: string): Unserved | undefined {
  if (!PATHS.some(({ matches }) => matches(path))) return undefined;
  return {
    detail: `no function of Cairn answers ${path.slice(0, SHOWN_PATH_CHARS)}: its codebase is not loaded, or firebase.json has none`,
    help: 'The log of the local cloud has the reason why a codebase is not loaded. cairn init adds one.',
  };
}

/** Prefixes of the function names `drive`, `api` and so on. */
function prefixesAmong(functions: Functions): string[] {
  return [...functions.values()].flatMap(({ name, store }) =>
    store === undefined ? [] : [name.replace(/[^-]+$/, '')],
  );
}
