/** Finds the functions of an installation of Cairn, under whatever names they were exported. Pure. */
import type { FunctionSpec } from '../host/function-spec.ts';
import { type Rewrite, sourceMatcher } from './rewrites.ts';

/** Paths of the installation, and the member that answers each. */
const PATHS = [
  { matches: sourceMatcher('/v1/**'), member: 'api' },
  { matches: sourceMatcher('/webhooks/github'), member: 'githubWebhook' },
  { matches: sourceMatcher('/webhooks/slack'), member: 'slackWebhook' },
] as const;

type Functions = ReadonlyMap<string, FunctionSpec>;

/** The functions `api` of all installations, the first first. A function that says where its runs are kept is their `drive`. */
export function apisAmong(functions: Functions): string[] {
  return prefixesAmong(functions).flatMap((prefix) =>
    functions.has(`${prefix}api`) ? [`${prefix}api`] : [],
  );
}

/** To the functions of the first installation that has one for the path. */
export function rewritesToInstallation(functions: Functions): Rewrite[] {
  const prefixes = prefixesAmong(functions);
  return PATHS.flatMap(({ matches, member }) => {
    const prefix = prefixes.find((one) => functions.has(one + member));
    if (prefix === undefined) return [];
    return [{ functionName: prefix + member, matches }];
  });
}

/** Prefixes of the function names `drive`, `api` and so on. */
function prefixesAmong(functions: Functions): string[] {
  return [...functions.values()].flatMap(({ name, store }) =>
    store === undefined ? [] : [name.replace(/[^-]+$/, '')],
  );
}
