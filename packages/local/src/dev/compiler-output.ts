/** Reads the output of the TypeScript compiler and other build tools in watch mode. Pure. */

interface TypesMessage {
  /** The compiler's text, relative to the folder of the codebase. */
  readonly text: string;
  readonly isError: boolean;
}

/** Undefined for a line that is not shown, such as a time or the start of a new compilation. */
export function diagnosisIn(line: string): TypesMessage | undefined {
  const text = line.trimEnd();
  if (/error TS\d+:/.test(text)) return { text, isError: true };
  const found = /Found (\d+ errors?)\./.exec(text)?.[1];
  if (found) return { text: found === '0 errors' ? 'no errors' : found, isError: false };
  // The lines that explain an error are indented below it.
  return /^\s+\S/.test(line) ? { text, isError: true } : undefined;
}

/** A line of any build tool that reports an error; `Found 0 errors.` does not. */
export function reportsError(line: string): boolean {
  return /\berrors?\b/i.test(line.replace(/\b(?:0|no|without) errors?\b/gi, ''));
}
