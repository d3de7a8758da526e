/** Watches folders and hands on what has changed in them, gathered while an editor is at it. Owns its timers. */
import { watch } from 'chokidar';
import { Debounce } from './debounce.ts';

/** An editor's moves are over by then; more would be felt. */
const QUIET_MS = 40;
const MOST_MS = 500;

export interface FileWatch {
  readonly folders: ReadonlySet<string>;
  /** Files and folders that are not looked into. */
  ignored(path: string): boolean;
  /** Paths of files that came, changed or went. */
  take(paths: ReadonlySet<string>): void;
  onError(error: unknown): void;
}

/** @returns its end: nothing is handed on after it */
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
