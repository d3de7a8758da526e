/** The reason why nothing serves a path that is for functions or services only. */

export interface Unserved {
  readonly detail: string;
  readonly help: string;
}

/** Longest path shown in an error. */
export const SHOWN_PATH_CHARS = 200;
