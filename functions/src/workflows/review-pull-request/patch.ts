/** Owns the parsing of a unified diff: the lines that a file gains, and their positions. Judges nothing. */

interface AddedLine {
  /** Line in the new version of the file, from 1. */
  readonly line: number;
  readonly text: string;
}

const HUNK = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** Lines before the first hunk header are omitted. */
export function addedLines(patch: string): AddedLine[] {
  const added: AddedLine[] = [];
  let line: number | undefined;
  for (const text of patch.split('\n')) {
    const begins = HUNK.exec(text)?.[1];
    if (begins !== undefined) line = Number(begins);
    else if (line === undefined || text.startsWith('-') || text.startsWith('\\')) continue;
    else {
      if (text.startsWith('+')) added.push({ line, text: text.slice(1) });
      line += 1;
    }
  }
  return added;
}
