/** Finds the functions of an installation of Cairn, under whatever names they were exported. Pure. */
import type { FunctionSpec } from '../host/function-spec.ts';
import { type Rewrite, sourceMatcher } from './rewrites.ts';
import { SHOWN_PATH_CHARS, type Unserved, unservedHidden } from './unserved.ts';

/** Paths of the installation, the member that answers each, and advice if a loaded installation lacks the member. */
const PATHS = [
  {
    matches: sourceMatcher('/v1/**'),
    member: 'api',
    add: 'Export all functions that `cairnFunctions` returns.',
  },
  {
    matches: sourceMatcher('/webhooks/github'),
    member: 'githubWebhook',
    add: 'The option `github` of `cairnFunctions` adds it.',
  },
  {
    matches: sourceMatcher('/webhooks/slack'),
    member: 'slackWebhook',
    add: 'The option `slack` of `cairnFunctions` adds it.',
  },
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

/** The reason why nothing serves a path of the installation that {@link rewritesToInstallation} does not match. */
export function unservedOfInstallation(functions: Functions, path: string): Unserved | undefined {
  const knownAt = (one: string) => PATHS.find(({ matches }) => matches(one));
  const known = knownAt(path);
  if (known === undefined) return unservedHidden(path, (visible) => knownAt(visible) !== undefined);
  const shown = path.slice(0, SHOWN_PATH_CHARS);
  if (prefixesAmong(functions).length > 0)
    return {
      detail: `the loaded installation of Cairn has no function '${known.member}', which answers ${shown}`,
      help: known.add,
    };
  return {
    detail: `no function of Cairn answers ${shown}: its codebase is not loaded, or firebase.json has none`,
    help: 'The log of the local cloud has the reason why a codebase is not loaded. `cairn init` adds Cairn to a project.',
  };
}

/** Prefixes of the function names `drive`, `api` and so on. */
function prefixesAmong(functions: Functions): string[] {
  return [...functions.values()].flatMap(({ name, store }) =>
    store === undefined ? [] : [name.replace(/[^-]+$/, '')],
  );
}
