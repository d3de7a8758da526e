/** The hosting rewrites of `firebase.json`: which function answers a path. Reads and matches; serves nothing. */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { parseJsonc } from '../jsonc.ts';

export interface Rewrite {
  matches(path: string): boolean;
  readonly functionName: string;
}

export interface HostingConfig {
  readonly public?: string;
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
  }[];
}

/** Hosting sites in `firebase.json`. */
export function sitesOf(firebaseJson: string): HostingConfig[] {
  const config = parseJsonc(readFileSync(firebaseJson, 'utf8')) as {
    hosting?: HostingConfig | HostingConfig[];
  };
  return [config.hosting ?? {}].flat();
}

/** The rewrites to functions, in their order: the first that matches decides. */
export function readRewrites(firebaseJson: string): Rewrite[] {
  return sitesOf(firebaseJson)
    .flatMap((site) => site.rewrites ?? [])
    .flatMap((rewrite) => {
      const target = rewrite.function;
      if (target === undefined) return [];
      const functionName = typeof target === 'string' ? target : target.functionId;
      return [{ functionName, matches: matcher(rewrite) }];
    });
}

function matcher({ source, glob, regex }: { source?: string; glob?: string; regex?: string }) {
  if (regex !== undefined) {
    const expression = new RegExp(regex);
    return (path: string) => expression.test(path);
  }
  const pattern = source ?? glob ?? '**';
  return (path: string) => matchesSource(path, pattern);
}

/** As Hosting reads the `source` of a rule: a glob, or with `!` before it all that it does not match. */
export function matchesSource(path: string, source: string): boolean {
  return source.startsWith('!') ? !posix.matchesGlob(path, source.slice(1)) : posix.matchesGlob(path, source);
}
