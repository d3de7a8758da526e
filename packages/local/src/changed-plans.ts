/**
 * Compares the functions' workflows with their versions in this data directory, so that a developer learns of a changed definition
 * before its runs block, and of live runs whose version an edit removed.
 */

/** The message is complete: it needs no stack. */
export class PlansChangedError extends Error {
  override readonly name = 'PlansChangedError';
}

/** The function `api` fails, for example because its deployment does not allow an option. The message is complete: it needs no stack. */
export class ApiFailedError extends Error {
  override readonly name = 'ApiFailedError';
}

interface Workflow {
  readonly type: string;
  readonly newest: number | null;
  readonly versions: readonly Version[];
}

interface Version {
  readonly planVersion: number;
  readonly deployed: boolean;
  readonly liveRuns: number;
  readonly changed?: readonly string[];
}

/** A version on which the live runs of the development key's tenant are blocked, or would be. */
export interface PlanFinding {
  /** `missing`: the functions no longer have the version. */
  readonly kind: 'changed' | 'missing';
  readonly type: string;
  readonly planVersion: number;
  readonly liveRuns: number;
  /** Ids of the newest live runs, at most {@link MAX_NAMED}; empty if they cannot be listed. */
  readonly runs: readonly string[];
  readonly message: string;
}

/** Sends a GET to Cairn's API, as the development client. */
export type Ask = (path: string) => Promise<Response>;

const MAX_PROBLEM_CHARS = 500;
/** Most run ids in a message. */
const MAX_NAMED = 5;
/** Most runs of a type that are searched for runs of a version. */
const MAX_LISTED = 100;
const LIVE = 'pending,running,replaying,awaiting_approval,waiting_external,interrupted';

interface RetryLimits {
  /** Limit for all answers. It is generous because the first request of a worker loads its workflows. */
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
 * @returns the versions with live runs that the functions do not have
 * @throws PlansChangedError; Error if the functions do not answer, or refuse the request
 */
export async function assertPlansUnchangedAtStart(
  ask: (path: string, signal: AbortSignal) => Promise<Response>,
  { answerMs, tries, timeout }: RetryLimits = RETRY_LIMITS,
): Promise<readonly PlanFinding[]> {
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
 * @returns the versions with live runs that the functions do not have
 * @throws PlansChangedError; Error if the functions do not answer, or refuse the request
 */
async function assertPlansUnchanged(ask: Ask): Promise<readonly PlanFinding[]> {
  const findings = await planFindings(ask);
  const changed = findings.filter(({ kind }) => kind === 'changed');
  if (changed.length > 0) throw new PlansChangedError(changed.map(({ message }) => message).join('\n'));
  return findings;
}

/** @throws Error if the functions do not answer, or refuse the request */
export async function planFindings(ask: Ask): Promise<readonly PlanFinding[]> {
  const workflows = await workflowsOf(ask);
  const wrong = workflows.flatMap(({ type, newest, versions }) =>
    versions
      .filter(({ changed, deployed, liveRuns }) => changed !== undefined || (!deployed && liveRuns > 0))
      .map((version) => ({ type, newest, version })),
  );
  const live = wrong.filter(({ version }) => version.liveRuns > 0).map(({ type }) => type);
  const listed = await listedRuns([...new Set(live)], ask);
  return wrong.map((one) => findingOf(one, listed.get(one.type) ?? []));
}

/** Empty for a function of the user with the name `api`, without Cairn. */
async function workflowsOf(ask: Ask): Promise<readonly Workflow[]> {
  const answer = await ask('/v1/workflows');
  if (answer.status === 404) return [];
  if (!answer.ok) {
    const problem = (await answer.text()).slice(0, MAX_PROBLEM_CHARS);
    throw new ApiFailedError(
      `the API answers ${answer.status}: ${problem}\nIts error is among the lines of the functions above. Correct it, then start again.`,
    );
  }
  return ((await answer.json()) as { readonly items: readonly Workflow[] }).items;
}

interface ListedRun {
  readonly id: string;
  readonly planVersion: number;
}

/**
 * Live runs by type, one request at a time. They only complete a message, which otherwise names the command that lists them.
 * So a failed request is not an error; it only stops further requests.
 */
async function listedRuns(types: readonly string[], ask: Ask): Promise<ReadonlyMap<string, ListedRun[]>> {
  const listed = new Map<string, ListedRun[]>();
  for (const type of types) {
    const query = new URLSearchParams({ type, status: LIVE, limit: `${MAX_LISTED}` });
    const runs = await ask(`/v1/runs?${query}`)
      .then(async (answer) =>
        answer.ok ? ((await answer.json()) as { items: ListedRun[] }).items : undefined,
      )
      .catch(() => undefined);
    if (runs === undefined) break;
    listed.set(type, runs);
  }
  return listed;
}

interface WrongVersion extends Pick<Workflow, 'type' | 'newest'> {
  readonly version: Version;
}

function findingOf({ type, newest, version }: WrongVersion, listed: readonly ListedRun[]): PlanFinding {
  const { planVersion, liveRuns, changed } = version;
  const runs = listed
    .filter((run) => run.planVersion === planVersion)
    .slice(0, MAX_NAMED)
    .map(({ id }) => id);
  const named = namedRuns({ liveRuns, runs, type });
  const message = changed
    ? changedMessage({ type, newest, planVersion, change: changed[0] }, named)
    : missingMessage({ type, newest, planVersion, liveRuns }, named);
  return { kind: changed ? 'changed' : 'missing', type, planVersion, liveRuns, runs, message };
}

/** `2 live runs (run_a, run_b)`; empty without any. */
function namedRuns({ liveRuns, runs, type }: Pick<PlanFinding, 'liveRuns' | 'runs' | 'type'>): string {
  if (liveRuns === 0) return '';
  const more = runs.length < liveRuns ? [`cairn runs list --type ${type}`] : [];
  return `${liveRuns} live run${liveRuns === 1 ? '' : 's'} (${[...runs, ...more].join(', ')})`;
}

interface NamedVersion extends Pick<Workflow, 'type' | 'newest'> {
  readonly planVersion: number;
}

function changedMessage(
  { type, newest, planVersion, change }: NamedVersion & { readonly change: string | undefined },
  runs: string,
): string {
  return (
    `the definition of '${type}' version ${planVersion} changed since its first run started in this data directory` +
    `${change === undefined ? '' : `: ${change}`}. Set planVersion to ${(newest ?? planVersion) + 1} (and keep ` +
    `version ${planVersion} unchanged beside it to continue its runs), or start with another data directory or ` +
    `with --data memory.${runs === '' ? '' : ` Blocked until then or until the edit is undone: ${runs}.`}`
  );
}

function missingMessage(
  { type, newest, planVersion, liveRuns }: NamedVersion & Pick<PlanFinding, 'liveRuns'>,
  runs: string,
): string {
  const beside = newest === null ? '' : ` beside version ${newest}`;
  const are = liveRuns === 1 ? 'is' : 'are';
  return (
    `'${type}' version ${planVersion} was removed from the functions. Its ${runs} ${are} blocked until it is back; nothing is lost. ` +
    `Undo the edit, or add version ${planVersion} again${beside}: they continue within ten minutes, or at once with ` +
    `cairn runs resume RUN. To end them: cairn runs cancel RUN --without-undo.`
  );
}
