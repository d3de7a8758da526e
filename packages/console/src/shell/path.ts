/** Parses the path of an address. Pure; never throws, whatever was typed. */

/** The name of the page at a path; of a run, `run`. */
export function pageOf(path: string): string {
  const [, first, second] = path.split('/');
  if (first === 'runs' && second) return 'run';
  return first || 'runs';
}

/** A part of a path, decoded. A malformed escape is kept. */
export function unescaped(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
