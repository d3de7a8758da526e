/** The hosting rewrites of `firebase.json`: which function answers a path. Reads and matches; serves nothing. */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';

export interface Rewrite {
  matches(path: string): boolean;
  readonly functionName: string;
}

interface HostingConfig {
  readonly rewrites?: readonly {
    readonly source?: string;
    readonly glob?: string;
    readonly regex?: string;
    readonly function?: string | { readonly functionId: string };
    readonly destination?: string;
  }[];
}

/** The rewrites to functions, in their order: the first that matches decides. */
export function readRewrites(firebaseJson: string): Rewrite[] {
  const config = JSON.parse(readFileSync(firebaseJson, 'utf8')) as {
    hosting?: HostingConfig | HostingConfig[];
  };
  const sites = [config.hosting ?? {}].flat();
  return sites
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
  return (path: string) => posix.matchesGlob(path, pattern);
}
