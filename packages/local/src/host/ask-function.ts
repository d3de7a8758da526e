/** Asks a function aside from its traffic, while its codebase is being loaded. */
import type { FunctionSpec } from './function-spec.ts';
import type { WorkerPool } from './workers/worker-pool.ts';

/** A GET of a path of a function. */
export type AskFunction = (
  functionName: string,
  path: string,
  headers: Record<string, string>,
) => Promise<Response>;

/** Workers that are asked one after the other, if each is killed meanwhile. */
const MOST_ASKED = 3;
/** On a slow machine the first request may take all its time to load the workflows. */
const MOST_TIMEOUTS = 2;

export function asking(
  pool: Pick<WorkerPool, 'acquireAside'>,
  functions: ReadonlyMap<string, FunctionSpec>,
): AskFunction {
  return async (name, path, headers) => {
    const spec = functions.get(name);
    if (spec === undefined) throw new Error(`no function named '${name}'`);
    let timeouts = 0;
    for (let asked = 1; ; asked += 1) {
      const { port, release, broken } = await pool.acquireAside(spec);
      const signal = AbortSignal.timeout(spec.timeoutSeconds * 1000);
      try {
        const answer = await fetch(`http://127.0.0.1:${port}/${name}${path}`, { headers, signal });
        return new Response(await answer.arrayBuffer(), answer);
      } catch (error) {
        if (signal.aborted) {
          timeouts += 1;
          if (timeouts === MOST_TIMEOUTS) throw unanswered(spec, path, error);
        } else if (asked >= MOST_ASKED) throw error;
        // The worker may be dead: the next one is another, or it has answered since.
        else broken();
      } finally {
        release();
      }
    }
  };
}

function unanswered({ name, timeoutSeconds }: FunctionSpec, path: string, cause: unknown): Error {
  return new Error(
    `the function '${name}' did not answer GET ${path} within its time limit of ${timeoutSeconds} s, ${MOST_TIMEOUTS} times`,
    { cause },
  );
}
