/** The address of a request. Pure. */
import { Refusal } from './problem.ts';

/** A query parameter, sent as `String(value)`; undefined is not sent. */
export type QueryValue = string | number | boolean | undefined;

interface Filling {
  readonly params?: unknown;
  readonly query?: Readonly<Record<string, QueryValue>>;
}

/** Path segments that every URL parser removes, encoded or not. A request with one would go to another resource. */
const NO_SEGMENTS: ReadonlySet<string> = new Set(['', '.', '..']);

/** The path with its parameters and query filled in. @throws Refusal INVALID_INPUT for a value that a path cannot contain */
export function targetOf(path: string, { params, query }: Filling): string {
  const values = (params ?? {}) as Readonly<Record<string, string>>;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => segmentOf(name, values[name] ?? ''));
  const entries = Object.entries(query ?? {}).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return entries.length === 0 ? filled : `${filled}?${new URLSearchParams(Object.fromEntries(entries))}`;
}

function segmentOf(name: string, value: string): string {
  if (!NO_SEGMENTS.has(value) && value.isWellFormed()) return encodeURIComponent(value);
  throw new Refusal(
    {
      status: 400,
      code: 'INVALID_INPUT',
      title: 'The input is not valid',
      detail: `'${value.toWellFormed()}' cannot be the ${name} in a path`,
      field: name,
      help: 'No resource has this id. Check it, and send the request again.',
    },
    undefined,
  );
}
