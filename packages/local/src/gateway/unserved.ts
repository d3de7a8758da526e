/** The reason why nothing serves a path that is for functions or services only. */

export interface Unserved {
  readonly detail: string;
  readonly help: string;
}

/** Longest path shown in an error. */
export const SHOWN_PATH_CHARS = 200;

/** The beginning of a segment that `*` and `**` do not match. */
const HIDDEN = /\/\.(?=[^/])/g;

/**
 * The reason why no function serves a path with a segment that begins with a dot: rewrites of Hosting do not match it.
 * Source: https://github.com/firebase/superstatic (`configMatcher`), which uses the default of minimatch for hidden segments
 *
 * @param isOfFunction true if a function would serve the path without the dots
 */
export function unservedHidden(path: string, isOfFunction: (path: string) => boolean): Unserved | undefined {
  const visible = path.replaceAll(HIDDEN, '/-');
  if (visible === path || !isOfFunction(visible)) return undefined;
  return {
    detail: `${path.slice(0, SHOWN_PATH_CHARS)} has a segment that begins with a dot, and rewrites of Firebase Hosting match none: no function gets this request, in production neither`,
    help: 'Send the request to the address of the function itself, or use a name that does not begin with a dot.',
  };
}
