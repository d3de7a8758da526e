/** Findings about the work: scheduled functions, queue, overdue runs, schedules, events. Pure. */
import { findingCode } from '../../core/findings.ts';
import type { Stop } from '../../engine/admission.ts';
import { FINDINGS_READ, type RunFinding } from '../../ports/diagnosis/findings.ts';
import {
  SCHEDULED_FUNCTIONS,
  type ScheduledFunction,
  type StoredHeartbeats,
} from '../../ports/diagnosis/heartbeats.ts';
import type { SeenQueue, WatchedQueue } from '../../ports/diagnosis/queue-probe.ts';
import { counted, type DiagnosisFinding, note, span, well, wrong } from './finding.ts';

const MINUTE_MS = 60_000;
/** Delay after which a scheduled function is a problem: three missed ticks for those that run every minute. */
export const LATE_MS: Readonly<Record<ScheduledFunction, number>> = {
  recoverRuns: 3 * MINUTE_MS,
  fireSchedules: 3 * MINUTE_MS,
  checkRuns: 150 * MINUTE_MS,
  deleteExpired: 75 * MINUTE_MS,
};
/** The scan handles 200 runs a minute. A run that it handles is due again after a minute at the earliest. */
export const OVERDUE_MS = 5 * MINUTE_MS;
/** A queue that keeps up delivers a task within seconds. */
const QUEUE_BEHIND_MS = 5 * MINUTE_MS;
/** The tick fires due schedules each minute. */
export const SCHEDULE_LATE_MS = 3 * MINUTE_MS;
/** After this time two scans have missed the run. */
export const STALE_AFTER_MS = 3 * MINUTE_MS;

export function ofFunctions({ latest, since, readAt }: StoredHeartbeats): DiagnosisFinding[] {
  const found = SCHEDULED_FUNCTIONS.flatMap((name): DiagnosisFinding[] => {
    const heartbeat = latest[name];
    const isScan = name === 'recoverRuns';
    const lastAt = heartbeat?.at ?? since;
    if (lastAt === undefined || (!heartbeat && readAt - lastAt <= LATE_MS[name])) return [];
    const agoMs = readAt - lastAt;
    const evidence = { function: name, lastMsAgo: agoMs };
    if (agoMs > LATE_MS[name])
      return [
        wrong(
          isScan ? 'SCAN_LATE' : 'FUNCTION_LATE',
          heartbeat
            ? `${name} last ran ${span(agoMs)} ago`
            : `${name} has not run for at least ${span(agoMs)}`,
          {
            help: 'Check Cloud Scheduler (gcloud scheduler jobs list --location REGION) and the log of the function.',
            evidence,
          },
        ),
      ];
    if (heartbeat?.outcome !== 'failed') return [];
    return [
      wrong(
        isScan ? 'SCAN_FAILED' : 'FUNCTION_FAILED',
        `${name} failed ${span(agoMs)} ago: ${heartbeat.error ?? ''}`,
        { help: 'Check the log of the function. It runs again automatically.', evidence },
      ),
    ];
  });
  if (found.length > 0) return found;
  const missing = SCHEDULED_FUNCTIONS.filter((name) => !latest[name]);
  if (missing.length > 0)
    return [
      note('FUNCTION_NEVER', `not run since the deployment: ${missing.join(', ')}`, {
        help: 'Two run every minute, one every half hour, one every hour. If this persists: gcloud scheduler jobs list.',
        evidence: { functions: missing },
      }),
    ];
  const scan = latest.recoverRuns;
  return [
    well('FUNCTIONS', `the scheduled functions run; last scan ${span(readAt - (scan?.at ?? readAt))} ago`),
  ];
}

/** An installation with a heartbeat this recent still exists: its scan runs each minute. */
const INSTALLED_MS = 15 * MINUTE_MS;

/** Codebases cannot see each other. They see only the heartbeats that all write to the same place. Names are `REGION/FUNCTION`. */
export function ofInstallations({ latest, readAt }: StoredHeartbeats): DiagnosisFinding[] {
  const names = Object.entries(latest.installations ?? {})
    .filter(([, at]) => readAt - at <= INSTALLED_MS)
    .map(([name]) => name)
    .sort();
  if (names.length < 2) return [];
  const evidence = { installations: names };
  const byDrive = Map.groupBy(names, (name) => name.slice(name.indexOf('/') + 1));
  // Another collectionPrefix would leave the runs of an installation that was moved without functions.
  const moved = [...byDrive.values()].filter((of) => of.length > 1);
  const findings = moved.map((of) => {
    const regions = of.map((name) => name.slice(0, name.indexOf('/')));
    return wrong('STORE_SHARED', `the functions run in ${of.length} regions: ${regions.join(', ')}`, {
      help: `If you moved them: those of the region that you left still dispatch runs, with their own code. Delete them: firebase functions:delete, with --region. If that was done, this ends within ${span(INSTALLED_MS)}. Do not change collectionPrefix or database. See docs/deploy.md, step 7.`,
      evidence,
    });
  });
  if (byDrive.size > 1)
    findings.push(
      wrong('STORE_SHARED', `${byDrive.size} installations share the same collections: ${names.join(', ')}`, {
        help: `If you renamed an export or the prefix of a codebase: the functions with the former name still dispatch runs, with their own code. Delete them: firebase functions:delete. If that was done, this ends within ${span(INSTALLED_MS)}; do not change collectionPrefix or database. If they are separate installations, each dispatches the runs of the others: give the one without live runs its own collectionPrefix or database. See docs/adopt.md.`,
        evidence,
      }),
    );
  return findings;
}

export interface Waking {
  /** Age of the oldest due time; 0: none is due. */
  readonly lagMs: number;
  readonly due: number;
  readonly held: number;
  readonly stale: number;
  /** Runs without a worker whose events are not all published. */
  readonly behind: number;
  /** True if more runs than were checked are due. */
  readonly isCut: boolean;
}

const WHY_HELD: Readonly<Record<Stop, string>> = {
  kill_switch: 'the kill switch is on',
  restored: 'the installation is paused after a restore',
};

/** @param stop undefined: runs are dispatched */
export function ofRuns(
  { lagMs, due, stale, behind, isCut }: Waking,
  stop: Stop | undefined,
): DiagnosisFinding[] {
  const evidence = { lagMs, due, stale, isCut };
  const found: DiagnosisFinding[] = [];
  if (lagMs > OVERDUE_MS) {
    const what = `${counted(due, 'run', isCut)} are overdue, the first by ${span(lagMs)}`;
    found.push(
      stop
        ? note('RUNS_HELD', `${what}: ${WHY_HELD[stop]}`, { evidence })
        : wrong('RUNS_OVERDUE', what, {
            help: 'recoverRuns does not run, is overloaded (it handles 200 runs a minute), or fails: see scan_failed in its log.',
            evidence,
          }),
    );
  }
  if (stale > 0 && !stop)
    found.push(
      wrong(
        'LEASES_STALE',
        `${counted(stale, 'lease')} of dead workers expired long ago and were not taken over`,
        { help: 'The scan should take them over. Check recoverRuns.', evidence: { stale } },
      ),
    );
  if (behind > 0)
    found.push(
      note('EVENTS_BEHIND', `events of ${counted(behind, 'run')} without a worker are not published yet`, {
        help: 'Publishing takes up to a minute. If this persists, check that the topic RUN_EVENTS_TOPIC exists and that the functions may publish to it.',
        evidence: { runs: behind },
      }),
    );
  if (found.every(({ state }) => state !== 'wrong') && lagMs <= OVERDUE_MS)
    found.unshift(
      well(
        'RUNS_IN_TIME',
        due === 0 ? 'no run is due' : `${counted(due, 'run', isCut)} due, the first for ${span(lagMs)}`,
      ),
    );
  return found;
}

/** The inbox of their tenant and the log name these runs. */
export function ofNamed(runs: readonly RunFinding[], now: number): DiagnosisFinding[] {
  const isStuck = ({ reason }: RunFinding) => findingCode(reason) === 'RUN_STUCK';
  // The findings beyond the limit may be of either kind.
  const seen = { now, isCut: runs.length === FINDINGS_READ };
  return [
    ...ofUnwritable(
      runs.filter((run) => !isStuck(run)),
      seen,
    ),
    ...ofStuck(runs.filter(isStuck), seen),
  ];
}

interface WorkReading {
  readonly now: number;
  /** There may be more runs. */
  readonly isCut: boolean;
}

function ofStuck(runs: readonly RunFinding[], { now, isCut }: WorkReading): DiagnosisFinding[] {
  if (runs.length === 0) return [];
  const first = Math.min(...runs.map(({ since }) => since));
  const what = `every dispatch of ${counted(runs.length, 'run', isCut)} fails, the first for ${span(now - first)}`;
  return [
    wrong('RUNS_STUCK', what, {
      help: 'run_stuck in the log of drive has the runs and the errors. See RUN_STUCK in docs/operations.md.',
      evidence: { runs: runs.length, sinceMs: now - first },
    }),
  ];
}

function ofUnwritable(runs: readonly RunFinding[], { now, isCut }: WorkReading): DiagnosisFinding[] {
  if (runs.length === 0) return [];
  const first = Math.min(...runs.map(({ since }) => since));
  const refused = runs.filter(({ reason }) => reason === 'installation').length;
  const what = `the store refuses to write ${counted(runs.length, 'run', isCut)}, the first for ${span(now - first)}`;
  return [
    wrong('RUNS_UNWRITABLE', what, {
      help:
        refused > 0
          ? 'The store refuses the functions. Check that the database exists and that their service account may write to it (roles/datastore.user). run_unwritable in the log of drive has the error.'
          : 'run_unwritable in the log of drive has the runs and the errors of the store. See RUN_UNWRITABLE in docs/operations.md.',
      evidence: { runs: runs.length, refusedToAnybody: refused, sinceMs: now - first },
    }),
  ];
}

export function ofSchedules(late: number, isCut: boolean): DiagnosisFinding {
  const evidence = { late, isCut };
  if (late === 0) return well('SCHEDULES_IN_TIME', 'no schedule is late', evidence);
  return wrong(
    'SCHEDULES_LATE',
    `${counted(late, 'schedule', isCut)} are more than ${span(SCHEDULE_LATE_MS)} late`,
    { help: 'fireSchedules does not run, or fails: see schedule_failed in its log.', evidence },
  );
}

/** The function's own queue always has a finding. A further queue has one only if it has a problem. */
export function ofQueues(
  queues: readonly (WatchedQueue & { readonly seen: SeenQueue })[],
  now: number,
): DiagnosisFinding[] {
  return queues.flatMap((queue) => {
    const finding = ofQueue(queue.seen, now, queue);
    if (queue.of !== undefined) return finding.state === 'wrong' ? [finding] : [];
    return [
      withFurther(
        finding,
        queues.filter(({ of }) => of === queue.name).map(({ seen }) => seen),
      ),
    ];
  });
}

/** Adds the tasks of the further queues, because callers see one sum. */
function withFurther(finding: DiagnosisFinding, further: readonly SeenQueue[]): DiagnosisFinding {
  if (finding.state !== 'well' || further.length === 0) return finding;
  const tasks = further.flatMap((seen) =>
    seen.kind === 'seen' && seen.tasks.kind === 'counted' ? [seen.tasks] : [],
  );
  if (tasks.length === 0) return finding;
  const depth = tasks.reduce((sum, one) => sum + one.depth, 0);
  const isCut = tasks.some((one) => one.isCut);
  const all = `its ${counted(further.length, 'further queue')}`;
  const unread = further.length - tasks.length;
  const where = unread === 0 ? all : `${tasks.length} of ${all}; ${unread} could not be read`;
  return { ...finding, what: `${finding.what}, and ${counted(depth, 'task', isCut)} in ${where}` };
}

/** Codes of a queue of suspects begin with `ALONE_`. */
export function ofQueue(
  queue: SeenQueue,
  now: number,
  { name, isAlone, of }: WatchedQueue,
): DiagnosisFinding {
  if (queue.kind === 'missing' && of !== undefined)
    return wrong('QUEUE_MISSING', `there is no queue ${name}: its tasks go into ${of} meanwhile`, {
      help: 'npm run deploy makes it, and docs/scale.md has the command (Queues). Is DRIVE_QUEUES as it is meant to be?',
    });
  if (queue.kind === 'missing')
    return wrong(
      isAlone ? 'ALONE_QUEUE_MISSING' : 'QUEUE_MISSING',
      `the queue ${name} does not exist: ${isAlone ? 'runs whose worker died cannot continue' : 'only the scan dispatches runs'}`,
      {
        help: `Run firebase deploy --only functions:CODEBASE:${name} to create it (CODEBASE as in firebase.json), and check that CAIRN_REGION is the region of the functions.`,
      },
    );
  if (queue.kind === 'denied') return denied(isAlone, name, `the queue ${name}`);
  const { state, tasks } = queue;
  const depth = tasks.kind === 'counted' ? counted(tasks.depth, 'task', tasks.isCut) : undefined;
  const evidence = tasks.kind === 'counted' ? { state, depth: tasks.depth, isCut: tasks.isCut } : { state };
  if (state === 'paused' || state === 'disabled')
    return wrong(
      isAlone ? 'ALONE_QUEUE_STOPPED' : 'QUEUE_STOPPED',
      `the queue ${name} is ${state}${depth === undefined ? '' : ` with ${depth} in it`}`,
      { help: `gcloud tasks queues resume ${name} --location REGION`, evidence },
    );
  if (tasks.kind === 'denied') return denied(isAlone, name, `the tasks in the queue ${name}`);
  const behindMs = tasks.oldestDueAt === undefined ? 0 : now - tasks.oldestDueAt;
  if (behindMs > QUEUE_BEHIND_MS)
    return wrong(
      isAlone ? 'ALONE_QUEUE_BEHIND' : 'QUEUE_BEHIND',
      `a task in the queue ${name} has been due for ${span(behindMs)}; the queue has ${depth}`,
      {
        help: `Check the responses of ${of ?? name}. 404: it is not deployed. 403: the service account of the queue lacks roles/run.invoker on it (docs/deploy.md, step 4). 429: it needs more instances.`,
        evidence: { ...evidence, oldestMs: behindMs },
      },
    );
  return well(isAlone ? 'ALONE_QUEUE' : 'QUEUE', `the queue ${name} is running with ${depth}`, evidence);
}

function denied(isAlone: boolean, name: string, what: string): DiagnosisFinding {
  return note(
    isAlone ? 'ALONE_QUEUE_DENIED' : 'QUEUE_DENIED',
    `the functions lack permission to read ${what}`,
    {
      help: `Grant their service account roles/cloudtasks.viewer (docs/deploy.md, step 2), or check with gcloud tasks queues describe ${name} --location REGION`,
    },
  );
}

export function ofSample({ latest, readAt }: StoredHeartbeats): DiagnosisFinding[] {
  const { found } = latest;
  if (!found) return [];
  const codes = Object.entries(found.problems).sort(([a], [b]) => (a < b ? -1 : 1));
  const when = `${span(readAt - found.at)} ago`;
  if (codes.length === 0)
    return [well('SAMPLE', `${counted(found.checked, 'run')} checked ${when}, no problems`)];
  const named = codes.map(([code, count]) => `${code} (${count})`).join(', ');
  return [
    wrong('PROBLEMS_FOUND', `${counted(found.checked, 'run')} checked ${when}, problems found: ${named}`, {
      help: 'run_inconsistent in the log of checkRuns names the runs. Run cairn check RUN, and see the code in docs/operations.md.',
      evidence: { problems: Object.fromEntries(codes), checked: found.checked },
    }),
  ];
}
