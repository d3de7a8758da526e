/**
 * Parameters that functions declare (`defineString` and so on). Sets their defaults, as firebase-tools does before it starts functions,
 * and finds those without a value.
 */
import { createRequire } from 'node:module';

interface Param {
  readonly name: string;
  readonly options?: { readonly default?: unknown };
  toSpec(): { readonly type: string };
}

/** Key of the list that all copies of firebase-functions in a process share; since version 7 it ends with `:v7`. */
const DECLARED = 'firebase-functions:params:declaredParams';

/**
 * @param module absolute path of the module of the functions, which is loaded
 * @returns names of the parameters with neither value nor default, which functions read as empty
 */
export function setDefaults(module: string, env: NodeJS.ProcessEnv): string[] {
  const unset: string[] = [];
  for (const { name, options, ...param } of declaredParams(module)) {
    if (env[name] !== undefined || param.type === 'secret') continue;
    const value = textOf(options?.default);
    if (value === undefined) unset.push(name);
    else env[name] = value;
  }
  return unset;
}

function declaredParams(module: string) {
  const declared = sharedList() ?? listOfInstalled(module);
  return [...new Map(declared.map((param) => [param.name, param])).values()].map((param) => ({
    name: param.name,
    options: param.options,
    type: param.toSpec().type,
  }));
}

/** Undefined for firebase-functions before 7, which has no such list. */
function sharedList(): readonly Param[] | undefined {
  const shared = globalThis as unknown as Readonly<Record<symbol, readonly Param[]>>;
  const lists = Object.getOwnPropertySymbols(globalThis)
    .filter(({ description }) => description === DECLARED || description?.startsWith(`${DECLARED}:v`))
    .map((symbol) => shared[symbol] ?? []);
  return lists.length === 0 ? undefined : lists.flat();
}

/** The list of a version before 7, which is loaded once, as CommonJS. Empty without firebase-functions or parameters. */
function listOfInstalled(module: string): readonly Param[] {
  const require = createRequire(module);
  try {
    const { exports } = require.cache[require.resolve('firebase-functions/params')] ?? {};
    return (exports as { readonly declaredParams?: readonly Param[] } | undefined)?.declaredParams ?? [];
  } catch {
    return [];
  }
}

/** The value as in an `.env` file. A default may be an expression of other parameters. */
function textOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'object' || value === null) return String(value);
  const { value: evaluate } = value as { readonly value?: unknown };
  if (typeof evaluate === 'function') return textOf((value as { value(): unknown }).value());
  return JSON.stringify(value);
}
