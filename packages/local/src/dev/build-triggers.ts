/**
 * Decides which changed sources start a build of a codebase. A build may write sources itself, such as generated types or a file with
 * the time of the build, and must not start the next one by that, without an end. Pure but for what it remembers of the last builds.
 */

/** A file that changes during so many builds in a row is written by the build: a person would have to save it during each of them. */
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
  #isRunning = false;

  began(): void {
    this.#counts = new Map([...this.#changed].map((path) => [path, this.#countOf(path)]));
    this.#changed = new Set();
    this.#isRunning = true;
  }

  /** Call when the changes of its last moment have been reported too. */
  ended(): void {
    this.#isRunning = false;
  }

  /** @param paths sources that changed; if a build is running, it shall run once more when `isStarted` */
  change(paths: readonly string[]): Triggered {
    if (!this.#isRunning) return { isStarted: paths.length > 0, written: [] };
    const news = paths.filter((path) => !this.#changed.has(path));
    for (const path of news) this.#changed.add(path);
    return {
      isStarted: paths.some((path) => this.#countOf(path) < BUILDS_IN_A_ROW),
      written: news.filter((path) => this.#countOf(path) === BUILDS_IN_A_ROW),
    };
  }

  #countOf(path: string): number {
    return (this.#counts.get(path) ?? 0) + 1;
  }
}
