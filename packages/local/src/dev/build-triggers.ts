/**
 * Decides which changed sources start a build of a codebase. A build may write sources itself, such as generated types or a file
 * with the time of the build. These must not start the next build, which would never end. Pure except for its memory of past builds.
 */

/**
 * A file that changes during this many builds in a row is written either by the build or by a person whose editor saves while typing.
 * A build after a quiet time shows which: if the file changes during that build too, the build writes it.
 */
const BUILDS_IN_A_ROW = 3;

interface Triggered {
  readonly isStarted: boolean;
  /** Files that were just found to be written by the build. */
  readonly written: readonly string[];
}

export class BuildTriggers {
  /** Files that changed during the last build. */
  #changed = new Set<string>();
  /** Number of consecutive builds, up to the one before the last, during which a file changed. */
  #counts: ReadonlyMap<string, number> = new Map();
  /** The changed files that the build writes. */
  #written = new Set<string>();
  #isRunning = false;
  #isAfterQuiet = false;
  #builds = 0;

  get builds(): number {
    return this.#builds;
  }

  /** True if a build after a quiet time must show who changed a file. That build also includes a person's last edit. */
  get isUncertain(): boolean {
    return [...this.#changed].some((path) => !this.#startsBuild(path) && !this.#written.has(path));
  }

  began({ isAfterQuiet = false } = {}): void {
    this.#counts = new Map([...this.#changed].map((path) => [path, this.#countOf(path)]));
    this.#written = new Set([...this.#written].filter((path) => this.#changed.has(path)));
    this.#changed = new Set();
    this.#isRunning = true;
    this.#isAfterQuiet = isAfterQuiet;
    this.#builds += 1;
  }

  /** Call once all changes made during the build have been reported. */
  ended(): void {
    this.#isRunning = false;
  }

  /** @param paths sources that changed; if a build is running and `isStarted` is returned, the build must run once more */
  change(paths: readonly string[]): Triggered {
    if (!this.#isRunning) return { isStarted: paths.length > 0, written: [] };
    for (const path of paths) this.#changed.add(path);
    const written = paths.filter((path) => this.#isFoundOut(path));
    for (const path of written) this.#written.add(path);
    return { isStarted: paths.some((path) => this.#startsBuild(path)), written };
  }

  #isFoundOut(path: string): boolean {
    return this.#isAfterQuiet && this.#countOf(path) > BUILDS_IN_A_ROW && !this.#written.has(path);
  }

  #startsBuild(path: string): boolean {
    return this.#countOf(path) < BUILDS_IN_A_ROW;
  }

  #countOf(path: string): number {
    return (this.#counts.get(path) ?? 0) + 1;
  }
}
