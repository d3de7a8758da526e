/**
 * Decides which changed sources start a build of a codebase. A build may write sources itself, such as generated types or a file with
 * the time of the build, and must not start the next one by that, without an end. Pure but for what it remembers of the last builds.
 */

/**
 * A file that changes during so many builds in a row is written by the build or saved again and again by a person, as by an editor
 * that saves while one types. A build after a quiet time tells which: only the build changes the file in that, too.
 */
const BUILDS_IN_A_ROW = 3;

interface Triggered {
  readonly isStarted: boolean;
  /** Files that the build writes, when that is found out. */
  readonly written: readonly string[];
}

export class BuildTriggers {
  /** Files that changed during the last build. */
  #changed = new Set<string>();
  /** Number of builds in a row, up to the one before the last, during which a file changed. */
  #counts: ReadonlyMap<string, number> = new Map();
  /** Those of the changed files that the build writes. */
  #written = new Set<string>();
  #isRunning = false;
  #isAfterQuiet = false;
  #builds = 0;

  get builds(): number {
    return this.#builds;
  }

  /** True if a build after a quiet time has to tell who changed a file. It also builds the last edit of a person. */
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

  /** Call when the changes of its last moment have been reported too. */
  ended(): void {
    this.#isRunning = false;
  }

  /** @param paths sources that changed; if a build is running, it shall run once more when `isStarted` */
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
