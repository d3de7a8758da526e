/** The address of a request. Pure. */

export interface Filling {
  readonly params?: unknown;
  readonly query?: Readonly<Record<string, string | undefined>>;
}

/** The path with its parameters and query filled in. */
export function targetOf(path: string, { params, query }: Filling): string {
  const values = (params ?? {}) as Readonly<Record<string, string>>;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
  const asked = Object.entries(query ?? {}).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return asked.length === 0 ? filled : `${filled}?${new URLSearchParams(asked)}`;
}
