/**
 * Names under which the functions of an installation are deployed. `firebase deploy` derives them from the exports of
 * the codebase (`cairn.drive` becomes `cairn-drive`) and from the prefix that `firebase.json` or a kit's instance gives the
 * codebase; queues and URLs have the same names. A function does not get the names of the others, so they are found from the
 * exports.
 */
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Properties of the running function, from the platform. */
interface RunningFunction {
  /** `K_SERVICE`: the deployed name in lower case. */
  readonly service: string | undefined;
  /** `FUNCTION_TARGET`: the path of its export, such as `cairn.drive`. */
  readonly target: string | undefined;
  /** Prefix of the function names in the local cloud, where one process serves all functions of a codebase. */
  readonly prefix?: string | undefined;
}

/** By member of the installation, such as `drive`. */
export type FunctionNames = Readonly<Record<string, string>>;

/** `firebase deploy` finds functions at any depth, but no codebase nests them deeper. */
const MAX_DEPTH = 5;

/** Path of the first export of each wanted value. */
export function exportsOf(module: object, wanted: ReadonlySet<unknown>): ReadonlyMap<unknown, string> {
  const found = new Map<unknown, string>();
  const seen = new Set<unknown>();
  const visit = (value: object, path: readonly string[]) => {
    if (path.length > MAX_DEPTH || seen.has(value)) return;
    seen.add(value);
    for (const [key, member] of Object.entries(value)) {
      const name = [...path, key];
      if (wanted.has(member) && !found.has(member)) found.set(member, name.join('-'));
      if (typeof member === 'object' && member !== null) visit(member, name);
    }
  };
  visit(module, []);
  return found;
}

/** Prefix that a deployment adds to all functions of the codebase, with its dash; usually empty. */
export function instancePrefix({ service, target, prefix }: RunningFunction): string {
  if (prefix !== undefined) return prefix;
  if (service === undefined || target === undefined) return '';
  const own = target.replaceAll('.', '-').toLowerCase().replaceAll('_', '-');
  return service.endsWith(`-${own}`) ? service.slice(0, -own.length) : '';
}

/**
 * @param module the exports of the codebase; undefined if they cannot be read: then the group of the running function is used if it
 *   contains one of the members
 */
export function functionNames(
  members: Readonly<Record<string, unknown>>,
  module: object | undefined,
  running: RunningFunction,
): FunctionNames {
  const prefix = instancePrefix(running);
  const exported = module && exportsOf(module, new Set(Object.values(members)));
  const group = exported ? '' : groupOf(running, Object.keys(members));
  return Object.fromEntries(
    Object.entries(members).flatMap(([member, value]) => {
      const name = exported ? exported.get(value) : `${group}${member}`;
      return name === undefined ? [] : [[member, prefix + name]];
    }),
  );
}

function groupOf({ target }: RunningFunction, members: readonly string[]): string {
  const path = target?.split('.') ?? [];
  const isOurs = members.includes(path.at(-1) ?? '');
  return isOurs
    ? path
        .map((part) => `${part}-`)
        .slice(0, -1)
        .join('')
    : '';
}

/**
 * The exports of the codebase that this process serves; undefined outside of a function. The module is already loaded, so
 * this only looks it up in the module cache.
 */
export async function servedModule(): Promise<object | undefined> {
  const {
    CAIRN_FUNCTIONS_MODULE: local,
    FUNCTION_TARGET: target,
    FUNCTION_SOURCE: source = '',
  } = process.env;
  if (local === undefined && target === undefined) return undefined;
  const folder = resolve(source);
  const require = createRequire(join(folder, 'package.json'));
  const main = local ?? mainOf(folder, require);
  if (main === undefined) return undefined;
  // Imported, a CommonJS module would have its exports as its default export, so the cache is read.
  const exported: unknown = require.cache[main]?.exports;
  return typeof exported === 'object' && exported !== null ? exported : import(pathToFileURL(main).href);
}

/** Undefined: there is no `main`, so the framework found the functions in an unknown way. */
function mainOf(folder: string, require: NodeJS.Require): string | undefined {
  try {
    return require.resolve(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

export function runningFunction(): RunningFunction {
  const { K_SERVICE: service, FUNCTION_TARGET: target, CAIRN_FUNCTIONS_PREFIX: prefix } = process.env;
  return { service, target, prefix };
}
