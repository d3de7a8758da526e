/** Watches folders and reports changes, gathered while an editor writes. Owns its timers. */
import { statSync } from 'node:fs';
import { watch } from 'chokidar';

/** Long enough for the writes of an editor; a longer delay would be noticed. */
const QUIET_MS = 40;
const MAX_MS = 500;
/** Time between two looks at the folders themselves. */
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
  const watching = (folder: string, ignoreInitial: boolean) =>
    watch(folder, { ignoreInitial, ignored: (path) => ignored(path) })
      .on('all', (_event, path) => changes.add(path))
      .on('error', onError);
  const watched = new Map(
    [...folders].map((folder) => [folder, { identity: identityOf(folder), watcher: watching(folder, true) }]),
  );
  // A watcher sees nothing of a folder that has replaced its own, as that of a build that removes what it wrote before.
  const replaced = setInterval(() => {
    for (const [folder, { identity: known, watcher }] of watched) {
      const identity = identityOf(folder);
      if (identity === undefined || identity === known) continue;
      void watcher.close();
      // Reports its files, which may all be others.
      watched.set(folder, { identity, watcher: watching(folder, false) });
    }
  }, REPLACED_MS);
  return async () => {
    clearInterval(replaced);
    changes.stop();
    await Promise.all([...watched.values()].map(({ watcher }) => watcher.close()));
  };
}

/** Another one for a folder that was removed and made anew. Undefined: there is none. */
function identityOf(folder: string): string | undefined {
  const found = statSync(folder, { throwIfNoEntry: false });
  // File systems give the number of a removed folder to the next one.
  return found && `${found.ino} ${found.birthtimeMs}`;
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
