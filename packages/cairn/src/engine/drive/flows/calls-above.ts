/** The source location (file and line) from which a flow's code asks for an operation. */
import { readCallSites } from '../../../core/call-sites.ts';
import { optional } from '../../../core/optional.ts';
import type { CodePosition, SourceLocations } from '../../../ports/source-locations.ts';

// biome-ignore lint/complexity/noBannedTypes: as captureStackTrace has it
export type CalledFunction = Function;

/** Most calls that are checked, those of a library between the project's code and the operation included. */
const MAX_CALLS = 12;

export interface CallOfCode {
  /** The function of the flow that the code called. */
  readonly from: CalledFunction;
  /** Calls around it, if it is no longer on the stack. */
  readonly calls?: readonly CodePosition[];
}

export function locationOf(
  { from, calls }: CallOfCode,
  sources: SourceLocations | undefined,
): { readonly location?: string } {
  return sources ? optional('location', sources.of(calls ?? callsAbove(from))) : {};
}

/**
 * Calls around that of `called`, the innermost first, with the `async` functions that await them. Empty if `called` is not
 * on the stack.
 */
export function callsAbove(called: CalledFunction): readonly CodePosition[] {
  const { stackTraceLimit } = Error;
  try {
    Error.stackTraceLimit = MAX_CALLS;
    return readCallSites((sites) => sites.flatMap(positionOf), called) ?? [];
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function positionOf(site: NodeJS.CallSite): CodePosition[] {
  const file = site.getFileName();
  const line = site.getLineNumber();
  return file && line !== null ? [{ file, line, column: site.getColumnNumber() ?? 1 }] : [];
}
