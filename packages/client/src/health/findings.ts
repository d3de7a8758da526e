/** Findings about the health of an installation, each from one answer of its API. Pure. */

import type { Answer } from 'cairn/api/calls';
import type { Exchange } from '../client.ts';
import { ago, duration } from '../duration.ts';
import { problemOf, type Refusal } from '../problem.ts';

export interface Finding {
  /** Stable, for programs. */
  readonly code: string;
  /** `note`: worth knowing, and perhaps intended. */
  readonly state: 'well' | 'note' | 'wrong';
  readonly what: string;
  readonly help?: string | undefined;
  /** Figures and names, by code. */
  readonly evidence?: Readonly<Record<string, unknown>> | undefined;
}

/** Tokens and Slack's signatures tolerate five minutes. A tenth of that shows that a clock is not synchronised. */
const MAX_SKEW_MS = 30_000;
/**
 * The thresholds of the installation's own diagnosis (a test keeps them equal): the scan handles overdue runs and the tick due
 * schedules each minute.
 */
export const OVERDUE_MS = 5 * 60_000;

/** @param now time of the installation, epoch ms */
export function isOverdue(wakeAt: string, now: number): boolean {
  return now - Date.parse(wakeAt) > OVERDUE_MS;
}
export const SCHEDULE_LATE_MS = 3 * 60_000;

/** Checks that the API cannot make. */
export const NOT_SEEN = [
  {
    what: 'exemptions from indexing, which keep writes cheap',
    look: 'gcloud firestore indexes fields list --database=DATABASE; firebase deploy --only firestore:indexes',
  },
  {
    what: 'whether a secret is the right one',
    look: 'Recent Deliveries of the webhook; 401 is another secret (docs/deploy.md, step 6)',
  },
  { what: 'backups', look: 'gcloud firestore backups schedules list --database=DATABASE' },
] as const;

const well = (code: string, what: string): Finding => ({ code, state: 'well', what });
const note = (code: string, what: string, help?: string): Finding => ({ code, state: 'note', what, help });
const wrong = (code: string, what: string, help: string): Finding => ({ code, state: 'wrong', what, help });

export function reachability(url: string, { status, text, tookMs }: Exchange): Finding {
  const health = readHealth(text);
  if (health === undefined) return notCairn(url, status, text);
  return store(health, `${url} answers in ${duration(tookMs)}`);
}

const CHECK_ADDRESS = 'Check the address: that of the site, without a path.';

/** The local cloud answers with a problem document if the codebase of Cairn is not loaded. */
function notCairn(url: string, status: number, text: string): Finding {
  const { code, title, detail = title, help = CHECK_ADDRESS } = problemOf(status, text);
  if (code !== `HTTP_${status}`) return wrong('NOT_CAIRN', `${url} answers ${status}: ${detail}`, help);
  return wrong('NOT_CAIRN', `${url} answers ${status}, but not as Cairn does`, CHECK_ADDRESS);
}

/** @param answers prefix of the text, without the version */
export function store(
  { version, store }: Pick<Answer<'Health'>, 'version' | 'store'>,
  answers: string,
): Finding {
  if (store === 'ok') return well('REACHABLE', `${answers}: version ${version}, store reached`);
  return wrong(
    'STORE_UNREACHABLE',
    `version ${version} answers, but does not reach its store`,
    'Check the status of Firestore, and whether the functions may use it (docs/deploy.md).',
  );
}

function readHealth(text: string): Answer<'Health'> | undefined {
  try {
    const read = JSON.parse(text) as Partial<Answer<'Health'>>;
    return read.version === undefined ? undefined : (read as Answer<'Health'>);
  } catch {
    return undefined;
  }
}

/**
 * Compares by the header `Date`, which has whole seconds.
 *
 * @param isLocal true for a local cloud, whose clock people may move
 */
export function clock({ headers, at, tookMs }: Exchange, isLocal = false): Finding {
  const serverTime = Date.parse(headers.get('date') ?? '');
  if (Number.isNaN(serverTime))
    return note('CLOCK_UNKNOWN', 'its clock cannot be compared: the answer has no Date');
  const skew = Math.max(0, Math.abs(serverTime + 500 - at) - 500 - tookMs / 2);
  if (skew <= MAX_SKEW_MS) return well('CLOCK', 'its clock and this one agree');
  if (isLocal)
    return note(
      'CLOCK_MOVED',
      `the clock of the local cloud and this one are ${duration(skew)} apart`,
      'It was moved. Requests that you sign with a time, as for Slack, need the time of the local cloud.',
    );
  return wrong(
    'CLOCK_SKEW',
    `its clock and this one are ${duration(skew)} apart`,
    'Set the clock of this machine: signed requests and sign-in tokens will be refused.',
  );
}

export function workflows(
  { killSwitch, items, countedVersions }: Answer<'WorkflowList'>,
  now: number,
): Finding[] {
  const paused = items.flatMap(({ type, paused: pause }) =>
    pause
      ? [
          note(
            'PAUSED',
            `${type} is paused for ${ago(pause.since, now).replace(' ago', '')}${pause.reason ? `: ${pause.reason}` : ''}`,
            `cairn unpause ${type}`,
          ),
        ]
      : [],
  );
  const missingVersions = items.flatMap(({ type, versions }) =>
    versions
      .filter(({ deployed, liveRuns }) => !deployed && liveRuns > 0)
      .map(({ planVersion, liveRuns }) =>
        wrong(
          'PLAN_VERSION_UNAVAILABLE',
          `${liveRuns} live runs are on ${type} v${planVersion}, which is not deployed`,
          'Deploy that version again beside the newest: see docs/operations.md.',
        ),
      ),
  );
  const changed = items.flatMap(({ type, newest, versions }) =>
    versions.flatMap(({ planVersion, changed }) =>
      changed
        ? [
            wrong(
              'PLAN_CHANGED',
              `${type} v${planVersion} has changed${changed[0] === undefined ? '' : `: ${changed[0]}`}`,
              `Deploy it as v${(newest ?? 0) + 1}, with v${planVersion} as it was beside it: see docs/operations.md.`,
            ),
          ]
        : [],
    ),
  );
  const old = items.flatMap(({ type, newest, versions }) =>
    versions
      .filter(({ deployed, liveRuns, planVersion }) => deployed && liveRuns > 0 && planVersion !== newest)
      .map(({ planVersion, liveRuns }) =>
        note(
          'OLD_VERSION_IN_USE',
          `${liveRuns} live runs of this tenant are on ${type} v${planVersion}: keep it deployed`,
        ),
      ),
  );
  return [
    killSwitch
      ? wrong('KILL_SWITCH', 'the kill switch is on', 'cairn unpause --everything')
      : well(
          'RUNNING',
          `${items.filter(({ newest }) => newest !== null).length} workflows are deployed, nothing is stopped`,
        ),
    ...paused,
    ...missingVersions,
    ...changed,
    ...old,
    ...(countedVersions === undefined
      ? []
      : [note('COUNT_CUT', `only ${countedVersions} versions with live runs were counted`)]),
  ];
}

export function schedules(items: readonly Answer<'ScheduleSummary'>[], now: number): Finding[] {
  const failing = items.filter(({ state, last }) => state === 'active' && last?.error);
  const late = items.filter(
    ({ state, nextAt }) =>
      state === 'active' && nextAt !== undefined && now - Date.parse(nextAt) > SCHEDULE_LATE_MS,
  );
  return [
    ...failing.map(({ id, last }) =>
      wrong(
        'SCHEDULE_REFUSED',
        `schedule ${id}: ${last?.error?.code}: ${last?.error?.message}`,
        `cairn schedules show ${id}`,
      ),
    ),
    ...late.map(({ id, nextAt }) =>
      wrong(
        'SCHEDULE_LATE',
        `schedule ${id} was due ${ago(nextAt, now)}`,
        'The function fireSchedules does not run: check Cloud Scheduler.',
      ),
    ),
    ...(failing.length + late.length === 0
      ? [well('SCHEDULES', `${counted(items.length, 'schedule')}, none late, none refused`)]
      : []),
  ];
}

/**
 * @param runs a sample of the live ones
 * @param isOff true if the kill switch or a restore has stopped dispatch
 */
export function liveRuns(
  runs: readonly Answer<'RunSummary'>[],
  { now, isOff }: { readonly now: number; readonly isOff: boolean },
): Finding[] {
  const overdue = runs.filter(({ wakeAt }) => wakeAt !== undefined && isOverdue(wakeAt, now));
  const waiting = runs.filter(({ status }) => status === 'awaiting_approval').length;
  const parked = runs.filter((run) => run.parked !== undefined);
  const failing = runs.flatMap(({ id, failures }) => (failures ? [{ id, ...failures }] : []));
  const late = overdue.map(({ id, wakeAt }) =>
    isOff
      ? note('RUN_HELD', `${id} was due ${ago(wakeAt, now)}: dispatch is stopped`)
      : wrong(
          'RUN_OVERDUE',
          `${id} was due ${ago(wakeAt, now)}`,
          'The function recoverRuns does not run, or cannot handle this run: check Cloud Scheduler and the log.',
        ),
  );
  return [
    ...late,
    ...parked.map(({ id, parked: why }) =>
      note('RUN_PARKED', `${id} is blocked: ${why}`, `cairn runs show ${id}`),
    ),
    ...failing.map(({ id, times, error }) =>
      note(
        'RUN_FAILING',
        `${id} does not advance: ${times === 1 ? 'its last dispatch' : `its last ${times} dispatches`} failed: ${error.message}`,
        `cairn explain ${id}`,
      ),
    ),
    ...(waiting === 0
      ? []
      : [
          note(
            'WAITING_FOR_PEOPLE',
            waiting === 1 ? '1 run waits for a person' : `${waiting} runs wait for a person`,
            'cairn inbox',
          ),
        ]),
    ...(overdue.length === 0
      ? [well('RUNS', `${counted(runs.length, 'live run')} checked, none is overdue`)]
      : []),
  ];
}

export const MORE_AS_ADMIN = note(
  'ADMIN_SEES_MORE',
  'indexes, TTL policies, the queue, the scheduled functions, secrets and parameters were not checked',
  'They are shown to a key with the role installation, as are the runs of other tenants, in numbers.',
);

/** The installation was deployed before the route existed. */
export const OLDER_API = note(
  'OLDER_INSTALLATION',
  'this installation does not know GET /v1/diagnosis, which shows indexes, queue and the like',
  'Deploy again.',
);

/** A failure of the installation has its own help and is not about the key. */
export function refused(what: string, { message, problem }: Refusal): Finding {
  const isFailure = problem.status >= 500 && problem.help !== undefined;
  return wrong(
    'REFUSED',
    `${what}: ${message}`,
    isFailure ? problem.help : 'Check the key and its role: docs/access.md.',
  );
}

export function unreachable(why: string): Finding {
  return wrong(
    'UNREACHABLE',
    why,
    'Check the address, the network, and whether the functions are deployed (locally: npm start).',
  );
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
