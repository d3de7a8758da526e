/** Reports that functions take long to load, because top-level code of a module may wait or loop forever without any output. */

/** Most codebases load within five seconds, even on a busy machine. */
export const SLOW_LOAD_MS = 20_000;

interface SlowLoadOptions {
  /** Called once, if the loading has not ended by then. */
  report(): void;
  pause(ms: number): Promise<void>;
}

/** Passes the result or failure of the loading on. */
export async function reportingSlow<T>(loading: Promise<T>, { report, pause }: SlowLoadOptions): Promise<T> {
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
  };
  void loading.then(end, end);
  void pause(SLOW_LOAD_MS).then(() => {
    if (!hasEnded) report();
  });
  return loading;
}
