/** Places in the source of the project, for people who inspect a run. */

/** A position in a file as it was loaded: that of a bundle, where the project is bundled. Line and column count from 1. */
export interface CodePosition {
  /** Path or file URL. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface SourceLocations {
  /**
   * Place of the first position that is in the project's own source, such as `src/orders.ts:12`; undefined: unknown. Never an
   * absolute path.
   *
   * @param calls nested calls, the innermost first
   */
  of(calls: readonly CodePosition[]): string | undefined;
}
