/** The address of a request. Pure. */
import { Refusal } from './problem.ts';

interface Filling {
  readonly params?: unknown;
  readonly query?: Readonly<Record<string, string | undefined>>;
}

/** Path segments that every URL parser removes, encoded or not. A request with one would go to another resource. */
const NO_SEGMENTS: ReadonlySet<string> = new Set(['', '.', '..']);

/** The path with its parameters and query filled in. @throws Refusal INVALID_INPUT for a value that no path can carry */
export function targetOf(path: string, { params, query }: Filling): string {
  const values = (params ?? {}) as Readonly<Record<string, string>>;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => segmentOf(name, values[name] ?? ''));
  const entries = Object.entries(query ?? {}).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return entries.length === 0 ? filled : `${filled}?${new URLSearchParams(entries)}`;
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
