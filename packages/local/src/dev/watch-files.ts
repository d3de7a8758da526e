/** Watches folders and reports changes, gathered while an editor writes. Owns its timers. */
import { statSync } from 'node:fs';
import { sep } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';

/** Long enough for the writes of an editor; a longer delay would be noticed. */
const QUIET_MS = 40;
const MAX_MS = 500;
/** Interval at which replaced folders are detected. */
const REPLACED_MS = 500;

interface FileWatch {
  readonly folders: ReadonlySet<string>;
  /** Files and folders that are not watched. */
  ignored(path: string): boolean;
  /** Paths of files that were created, changed or removed. */
  take(paths: ReadonlySet<string>): void;
  onError(error: unknown): void;
}

/** @returns a function that stops it; nothing is reported after that */
export function watchFiles({ folders, ignored, take, onError }: FileWatch): () => Promise<void> {
  const changes = new Debounce<string>({
    quietMs: QUIET_MS,
    mostMs: MAX_MS,
    now: () => performance.now(),
    after(ms, call) {
      const timer = setTimeout(call, ms);
      return () => clearTimeout(timer);
    },
    take,
  });
  const identities = new Identities(onError);
  const watched = new Map<string, FSWatcher>();
  const begin = (folder: string, ignoreInitial: boolean) => {
    const watcher = watch(folder, { ignoreInitial, ignored: (path) => ignored(path) })
      .on('all', (_event, path) => {
        // A folder that was missing at first. This watcher reports its files, so the interval below need not.
        if (!identities.has(folder) && isIn(folder, path)) identities.look(folder);
        changes.add(path);
      })
      .on('error', onError);
    watched.set(folder, watcher);
  };
  for (const folder of folders) {
    identities.look(folder);
    begin(folder, true);
  }
  // A watcher does not notice that its folder was replaced, for example by a build that removes its old output.
  const replaced = setInterval(() => {
    for (const [folder, watcher] of watched) {
      if (!identities.look(folder)) continue;
      void watcher.close();
      // Reports all its files, because each may have changed.
      begin(folder, false);
    }
  }, REPLACED_MS);
  return async () => {
    clearInterval(replaced);
    changes.stop();
    await Promise.all([...watched.values()].map((watcher) => watcher.close()));
  };
}

const isIn = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}${sep}`);

/** Identities of folders. A folder that was removed and created again has another one. */
class Identities {
  readonly #onError: (error: unknown) => void;
  readonly #known = new Map<string, string>();
  /** Folders whose last look failed. */
  readonly #failing = new Set<string>();

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  has(folder: string): boolean {
    return this.#known.has(folder);
  }

  /** @returns true if the folder is new or was replaced since the last call */
  look(folder: string): boolean {
    const identity = this.#identityOf(folder);
    if (identity === undefined || identity === this.#known.get(folder)) return false;
    this.#known.set(folder, identity);
    return true;
  }

  /** Undefined if the folder is missing or unreadable. Consecutive errors are reported once. */
  #identityOf(folder: string): string | undefined {
    try {
      const found = statSync(folder, { throwIfNoEntry: false });
      this.#failing.delete(folder);
      // The inode alone is not enough, because file systems reuse the number of a removed folder.
      return found && `${found.ino} ${found.birthtimeMs}`;
    } catch (error) {
      if (!this.#failing.has(folder)) this.#onError(error);
      this.#failing.add(folder);
      return undefined;
    }
  }
}

interface DebounceOptions<T> {
  readonly quietMs: number;
  /** Changes are passed on after this time even if more keep coming. */
  readonly mostMs: number;
  /** ms of a clock that never runs back. */
  now(): number;
  /** Calls once after this time in ms; returns a function that cancels it. */
  after(ms: number, call: () => void): () => void;
  take(items: ReadonlySet<T>): void;
}

/** Gathers changes in quick succession: an editor writes a file in several steps, a compiler many files. */
export class Debounce<T> {
  readonly #options: DebounceOptions<T>;
  #items = new Set<T>();
  #firstAt = 0;
  #cancel: (() => void) | undefined;

  constructor(options: DebounceOptions<T>) {
    this.#options = options;
  }

  add(item: T): void {
    const { quietMs, mostMs, now, after } = this.#options;
    if (this.#items.size === 0) this.#firstAt = now();
    this.#items.add(item);
    this.#cancel?.();
    const left = Math.max(0, this.#firstAt + mostMs - now());
    this.#cancel = after(Math.min(quietMs, left), () => this.#flush());
  }

  stop(): void {
    this.#cancel?.();
    this.#items = new Set();
  }

  #flush(): void {
    const items = this.#items;
    this.#items = new Set();
    this.#cancel = undefined;
    if (items.size > 0) this.#options.take(items);
  }
}
