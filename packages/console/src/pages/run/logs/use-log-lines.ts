/** The lines of the run that match the filter, followed while the tab is open. */
import { useEffect, useState } from 'react';
import { useSession } from '../../../session/session.ts';
import { followLogs, NO_LINES, type ReadLines } from './follow-logs.ts';

/** The API's own bound of a page. */
const PAGE = '100';
/** Lines of a running body are stored within three seconds. */
const ASK_EVERY_MS = 2_000;

interface LineFilter {
  readonly step: string | undefined;
  readonly level: string | undefined;
}

interface LogLines extends ReadLines {
  readonly error: unknown;
  again(): void;
}

export function useLogLines(id: string, { step, level }: LineFilter): LogLines {
  const { api } = useSession();
  const [read, show] = useState(NO_LINES);
  const [error, setError] = useState<unknown>();
  const [tries, setTries] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `tries` is to begin anew
  useEffect(() => {
    const ending = new AbortController();
    const { signal } = ending;
    show(NO_LINES);
    setError(undefined);
    followLogs({
      read: (cursor) =>
        api.get('/v1/runs/{id}/logs', {
          params: { id },
          query: { step, level, limit: PAGE, cursor },
          signal,
        }),
      show,
      pause: () => untilLater(signal),
      signal,
    }).catch((failure: unknown) => {
      if (!signal.aborted) setError(failure);
    });
    return () => ending.abort();
  }, [api, id, step, level, tries]);
  return { ...read, error, again: () => setTries((count) => count + 1) };
}

/** A hidden page needs no new lines. */
function untilLater(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      if (document.hidden && !signal.aborted) return;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', done);
      resolve();
    };
    const timer = setTimeout(() => {
      document.addEventListener('visibilitychange', done);
      done();
    }, ASK_EVERY_MS);
    signal.addEventListener('abort', done, { once: true });
  });
}
