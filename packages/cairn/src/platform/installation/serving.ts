/** Set-up of an instance, done once when it loads the functions of a codebase. */
import { guardBodies } from '../body-guard.ts';
import { endAfterDispatch } from '../instance/one-dispatch.ts';
import type { WarmUpFunctions, WarmUpServers } from '../warm-up.ts';
import { exportsOf, runningFunction, servedModule } from './exported-names.ts';
import { servedInstallations } from './installation.ts';
import { backgroundHandlers, httpHandlers } from './load-handlers.ts';

const served = servedInstallations();
/** Member of an installation by the name of its export; undefined while the module is being loaded. */
let exported: ReadonlyMap<string, string> | undefined;

let isServing = false;
/** Prefix of the deployed names of the codebase. Cached, because each request needs it, and reading the environment is slow. */
let prefix = '';

/** Must be called when an installation is registered. */
export function startServing(): void {
  if (isServing) return;
  isServing = true;
  prefix = runningFunction().prefix ?? '';
  guardBodies(memberOf);
  endAfterDispatch(memberOf);
  setImmediate(() => void learnExports());
  // The local cloud emits this in an idle worker before its first request. Listeners add promises to `waits`.
  process.once('cairn:warm-up' as 'message', (waits: unknown) => {
    // The work is split, because a request that arrives meanwhile waits for the current piece.
    const warm = async () => {
      const { warmUp } = await backgroundHandlers();
      await turn();
      await httpHandlers();
      await turn();
      await Promise.all(served.map(warmUp));
    };
    (waits as Promise<void>[]).push(warm());
  });
  // The local cloud emits this in an idle worker that is warm. Listeners add functions to `found`.
  process.once('cairn:warm-up-functions' as 'message', (given: unknown) => {
    const { servers, found } = given as WarmUpRequest;
    const [first] = served;
    if (first) found.push(import('../warm-up.ts').then((loaded) => loaded.warmUpFunctions(first, servers)));
  });
}

interface WarmUpRequest {
  readonly servers: WarmUpServers;
  readonly found: Promise<WarmUpFunctions>[];
}

/** Resolves in the next turn of the event loop. */
const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));

/** Until the exports are known, any function whose last name part is that of a Cairn function counts as one. */
function memberOf(called: string): string | undefined {
  const name = called.startsWith(prefix) ? called.slice(prefix.length) : called;
  if (exported) return exported.get(name);
  const last = name.split('-').at(-1) ?? '';
  return served.some(({ members }) => Object.hasOwn(members, last)) ? last : undefined;
}

/** If a module cannot be read, the first request fails with the reason. */
async function learnExports(): Promise<void> {
  const module = await servedModule().catch(() => undefined);
  if (!module) return;
  exported = new Map(
    served.flatMap(({ members }) => {
      const paths = exportsOf(module, new Set(Object.values(members)));
      return Object.entries(members).flatMap(([member, one]): [string, string][] => {
        const path = paths.get(one);
        return path === undefined ? [] : [[path, member]];
      });
    }),
  );
}
