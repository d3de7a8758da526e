/**
 * Compares the functions' workflows with their versions in this data directory before requests are served, so that a developer
 * learns of a changed definition before its runs block.
 */

/** The message is complete: it needs no stack. */
export class PlansChangedError extends Error {
  override readonly name = 'PlansChangedError';
}

/** The function `api` fails, for example because its deployment does not allow an option. The message is complete: it needs no stack. */
export class ApiFailedError extends Error {
  override readonly name = 'ApiFailedError';
}

interface Workflows {
  readonly items: readonly {
    readonly type: string;
    readonly newest: number | null;
    readonly versions: readonly { readonly planVersion: number; readonly changed?: readonly string[] }[];
  }[];
}

const MAX_PROBLEM_CHARS = 500;

interface RetryLimits {
  /** The first request of a worker loads its workflows. */
  readonly answerMs: number;
  readonly tries: number;
  /** Aborts with a `TimeoutError` after the time in ms. */
  readonly timeout: (ms: number) => AbortSignal;
}

/** Two minutes in all: after a crash, recovered runs compete with the loading workers. */
const RETRY_LIMITS: RetryLimits = {
  answerMs: 30_000,
  tries: 4,
  timeout: (ms) => AbortSignal.timeout(ms),
};

/**
 * Like {@link assertPlansUnchanged}, for functions that were just started: repeats requests without an answer.
 *
 * @throws PlansChangedError; Error if the functions do not answer, or refuse the request
 */
export async function assertPlansUnchangedAtStart(
  ask: (path: string, signal: AbortSignal) => Promise<Response>,
  { answerMs, tries, timeout }: RetryLimits = RETRY_LIMITS,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await assertPlansUnchanged((path) => ask(path, timeout(answerMs)));
    } catch (error) {
      if (Object(error).name !== 'TimeoutError') throw error;
      if (attempt === tries) throw new Error(silent(answerMs * tries), { cause: error });
    }
  }
}

function silent(ms: number): string {
  return (
    `the function 'api' did not answer within ${ms / 1000} s, so the workflows cannot be compared with their versions. ` +
    `Its process may still be loading on a busy machine, or a module of the functions waits for something while it loads. ` +
    `Look at the lines of the functions above, then start again: the runs in the data directory are kept.`
  );
}

/**
 * @param ask sends a GET to Cairn's API, as the development client
 * @throws PlansChangedError; Error if the functions do not answer, or refuse the request
 */
export async function assertPlansUnchanged(ask: (path: string) => Promise<Response>): Promise<void> {
  const answer = await ask('/v1/workflows');
  // A function of the user with this name, without workflows.
  if (answer.status === 404) return;
  if (!answer.ok) {
    const problem = (await answer.text()).slice(0, MAX_PROBLEM_CHARS);
    throw new ApiFailedError(
      `the API answers ${answer.status}: ${problem}\nIts error is among the lines of the functions above. Correct it, then start again.`,
    );
  }
  const changed = changedIn((await answer.json()) as Workflows);
  if (changed.length > 0) throw new PlansChangedError(changed.join('\n'));
}

function changedIn({ items }: Workflows): string[] {
  return items.flatMap(({ type, newest, versions }) =>
    versions.flatMap(({ planVersion, changed }) =>
      changed === undefined
        ? []
        : [
            `the definition of '${type}' version ${planVersion} changed since its first run started in this data directory` +
              `${changed[0] === undefined ? '' : `: ${changed[0]}`}. Set planVersion to ${(newest ?? planVersion) + 1} (and keep ` +
              `version ${planVersion} unchanged beside it to continue its runs), or start with another data directory or ` +
              `with --data memory.`,
          ],
    ),
  );
}
