/** Locations in the source of the project, for people who inspect a run. */

/** A position in a loaded file, which may be a bundle. Line and column count from 1. */
export interface CodePosition {
  /** Path or file URL. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface SourceLocations {
  /**
   * Location of the first position in the project's own source, such as `src/orders.ts:12`; undefined: unknown. Never an
   * absolute path.
   *
   * @param calls nested calls, the innermost first
   */
  of(calls: readonly CodePosition[]): string | undefined;
}
