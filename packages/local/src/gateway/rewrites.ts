/** The hosting rewrites of `firebase.json`, which map paths to functions. Reads and matches; serves nothing. */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { parseJsonc } from '../jsonc.ts';
import { SHOWN_PATH_CHARS, type Unserved, unservedHidden } from './unserved.ts';

export interface Rewrite {
  matches(path: string): boolean;
  readonly functionName: string;
}

export interface HostingConfig {
  readonly public?: string;
  /** Pages are served without `.html`. */
  readonly cleanUrls?: boolean;
  readonly headers?: readonly {
    readonly source: string;
    readonly headers: readonly { readonly key: string; readonly value: string }[];
  }[];
  readonly rewrites?: readonly {
    readonly source?: string;
    readonly glob?: string;
    readonly regex?: string;
    readonly function?: string | { readonly functionId: string };
    readonly destination?: string;
    readonly run?: { readonly serviceId: string };
  }[];
}

type RewriteConfig = NonNullable<HostingConfig['rewrites']>[number];

/** Hosting sites in `firebase.json`. */
export function sitesOf(firebaseJson: string): HostingConfig[] {
  const config = parseJsonc(readFileSync(firebaseJson, 'utf8')) as {
    hosting?: HostingConfig | HostingConfig[];
  };
  return [config.hosting ?? {}].flat();
}

/** The rewrites to functions, in order; the first match decides. They exclude paths that an earlier rewrite of their site sends elsewhere. */
export function readRewrites(firebaseJson: string): Rewrite[] {
  return sitesOf(firebaseJson).flatMap(({ rewrites = [] }) =>
    rewrites.flatMap((rewrite, at) => {
      const target = rewrite.function;
      if (target === undefined) return [];
      const functionName = typeof target === 'string' ? target : target.functionId;
      const earlier = rewrites.slice(0, at).filter((one) => one.function === undefined);
      const others = earlier.map(matcher);
      const matchesIt = matcher(rewrite);
      return [
        { functionName, matches: (path: string) => matchesIt(path) && !others.some((other) => other(path)) },
      ];
    }),
  );
}

/** A rewrite of everything below a path. */
const PLACE = /^\/[^*]+\/\*\*$/;

/** @returns the reason why a path is not served: the first site rewrites it to neither a function nor a page, or a segment begins with a dot */
export function readUnserved(firebaseJson: string): (path: string) => Unserved | undefined {
  const [{ rewrites = [] } = {}] = sitesOf(firebaseJson);
  const rules = rewrites.map((rewrite) => ({ rewrite, matches: matcher(rewrite) }));
  return (path) => {
    const firstOf = (one: string) => rules.find(({ matches }) => matches(one))?.rewrite;
    const first = firstOf(path);
    if (first === undefined) return unservedHidden(path, (visible) => isPlaceOfFunction(firstOf(visible)));
    if (first.function !== undefined || first.destination !== undefined) return undefined;
    return {
      detail: `firebase.json rewrites ${path.slice(0, SHOWN_PATH_CHARS)} to ${targetOf(first)}, which the local cloud does not serve`,
      help: 'Call the service at its own address, or put a rewrite to a function or page before this one while you develop.',
    };
  };
}

function isPlaceOfFunction(rewrite: RewriteConfig | undefined): boolean {
  return rewrite?.function !== undefined && PLACE.test(rewrite.source ?? rewrite.glob ?? '');
}

function targetOf({ run }: RewriteConfig): string {
  return run === undefined ? 'neither a function nor a page' : `the Cloud Run service '${run.serviceId}'`;
}

function matcher({ source, glob, regex }: { source?: string; glob?: string; regex?: string }) {
  if (regex !== undefined) {
    const expression = new RegExp(regex);
    return (path: string) => expression.test(path);
  }
  return sourceMatcher(source ?? glob ?? '**');
}

/** A path without empty, hidden or trailing segments, for which globs have special rules. */
const PLAIN = /^(?:\/[\w~:-][\w.~:-]*)+$/;

/** Hosting's reading of the `source` of a rule: a glob, or with `!` before it everything that the glob does not match. */
export function sourceMatcher(source: string): (path: string) => boolean {
  if (source.startsWith('!')) {
    const matches = globMatcher(source.slice(1));
    return (path) => !matches(path);
  }
  return globMatcher(source);
}

/**
 * `matchesGlob` parses the glob for each path, which costs more than the rest of a request in the gateway. The common
 * globs, a path or everything below one, are compared directly.
 */
function globMatcher(glob: string): (path: string) => boolean {
  const isAllBelow = glob.endsWith('/**');
  const place = isAllBelow ? glob.slice(0, -'/**'.length) : glob;
  if (!PLAIN.test(place)) return (path) => posix.matchesGlob(path, glob);
  const below = `${place}/`;
  return (path) => {
    if (!PLAIN.test(path)) return posix.matchesGlob(path, glob);
    return isAllBelow ? path.startsWith(below) : path === place;
  };
}
