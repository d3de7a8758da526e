/** Reports that functions take long to load: code at the top of a module may wait, or run without an end, and says nothing itself. */

/** Most codebases load within five seconds, also on a busy machine. */
export const SLOW_LOAD_MS = 20_000;

interface SlowLoadOptions {
  /** Called once, if the loading has not ended by then. */
  report(): void;
  pause(ms: number): Promise<void>;
}

/** @returns the result of the loading, whose failure is not reported here */
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
