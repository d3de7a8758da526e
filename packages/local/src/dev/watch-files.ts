/** Watches folders and reports changes, gathered while an editor writes. Owns its timers. */
import { watch } from 'chokidar';
import { Debounce } from './debounce.ts';

/** Long enough for the writes of an editor; a longer delay would be noticed. */
const QUIET_MS = 40;
const MOST_MS = 500;

export interface FileWatch {
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
    mostMs: MOST_MS,
    now: () => performance.now(),
    after(ms, call) {
      const timer = setTimeout(call, ms);
      return () => clearTimeout(timer);
    },
    take,
  });
  const watcher = watch([...folders], { ignoreInitial: true, ignored: (path) => ignored(path) });
  watcher.on('all', (_event, path) => changes.add(path));
  watcher.on('error', onError);
  return async () => {
    changes.stop();
    await watcher.close();
  };
}
