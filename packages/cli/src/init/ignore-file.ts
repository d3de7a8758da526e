/** Lines of `.gitignore`. Pure. */

interface IgnoringCodebase {
  /** Name of the codebase's folder. */
  readonly name: string;
  readonly isCompiled: boolean;
  readonly hasTarball: boolean;
}

/** Lines of a codebase that are not in the text. */
export function missingLines(
  text: string,
  { name, isCompiled, hasTarball }: IgnoringCodebase,
): readonly string[] {
  const wanted = [
    '.cairn/',
    `${name}/node_modules/`,
    ...(isCompiled ? [`${name}/lib/`] : []),
    // Secrets of this machine.
    `${name}/*.local`,
    // The template of firebase-tools ignores every tarball, but a clone needs this one to install the codebase.
    ...(hasTarball ? [`!${name}/packages/*.tgz`] : []),
  ];
  const lines = text.split('\n').map(plain);
  return wanted.filter((line) => !linesLike(line).some((one) => lines.includes(one)));
}

/** Appends the lines. */
export function withLines(text: string | undefined, missing: readonly string[]): string | undefined {
  const eol = text?.includes('\r\n') ? '\r\n' : '\n';
  if (missing.length === 0) return undefined;
  const start = text === undefined || text === '' ? '' : text.endsWith('\n') ? text : `${text}${eol}`;
  return `${start}${missing.map((line) => `${line}${eol}`).join('')}`;
}

/** Lines of the same effect. Only a line without a slash before its end also applies to the folders below. */
function linesLike(line: string): readonly string[] {
  const path = plain(line);
  if (path.startsWith('!')) return [path];
  const name = path.slice(path.lastIndexOf('/') + 1);
  return [path, `/${path}`, name, `**/${name}`];
}

/** Removes the last occurrence of each line from an edited file. */
export function withoutLines(text: string, unwanted: readonly string[]): string {
  return unwanted.reduce((remaining, line) => {
    const lines = remaining.split(/(?<=\n)/);
    const place = lines.findLastIndex((one) => one.trimEnd() === line);
    return place < 0 ? remaining : lines.toSpliced(place, 1).join('');
  }, text);
}

/** `lib` and `lib/` count as equal. */
function plain(line: string): string {
  return line.trim().replace(/\/$/, '');
}
