/** Lines of `.gitignore`. Pure. */

/** Appends the lines that are missing. */
export function withLines(text: string | undefined, wanted: readonly string[]): string | undefined {
  const eol = text?.includes('\r\n') ? '\r\n' : '\n';
  const missing = missingLines(text ?? '', wanted);
  if (missing.length === 0) return undefined;
  const start = text === undefined || text === '' ? '' : text.endsWith('\n') ? text : `${text}${eol}`;
  return `${start}${missing.map((line) => `${line}${eol}`).join('')}`;
}

export function missingLines(text: string, wanted: readonly string[]): string[] {
  return wanted.filter((line) => !hasLine(text, line));
}

export function hasLine(text: string, wanted: string): boolean {
  return text.split('\n').some((line) => plain(line) === plain(wanted));
}

/** Takes the lines out of an edited file: each at most once, its last occurrence. */
export function withoutLines(text: string, unwanted: readonly string[]): string {
  return unwanted.reduce((remaining, line) => {
    const lines = remaining.split(/(?<=\n)/);
    const place = lines.findLastIndex((one) => one.trimEnd() === line);
    return place < 0 ? remaining : lines.toSpliced(place, 1).join('');
  }, text);
}

/** `/lib` and `lib/` count as equal. */
function plain(line: string): string {
  return line.trim().replace(/^\/|\/$/g, '');
}
