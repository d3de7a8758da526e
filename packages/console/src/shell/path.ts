/** What the path of an address says. Pure: whatever somebody typed there, nothing is thrown. */

/** The name of the page at a path; of a run, `run`. */
export function pageOf(path: string): string {
  const [, first, second] = path.split('/');
  if (first === 'runs' && second) return 'run';
  return first || 'runs';
}

/** A part of a path as it was meant. One that is escaped wrongly is taken as it stands. */
export function unescaped(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
