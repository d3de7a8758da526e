/** What is said of the work: the scheduled functions, the queue, runs that are due, schedules, events. Pure. */
import { BEATING, type BeatingFunction, type HeardBeats } from '../../ports/diagnosis/heartbeats.ts';
import type { SeenQueue } from '../../ports/diagnosis/queue-look.ts';
import { counted, type Finding, note, span, well, wrong } from './finding.ts';

const MINUTE_MS = 60_000;
/** So much later than it should have run, something is wrong: for those of every minute three in a row. */
export const LATE_MS: Readonly<Record<BeatingFunction, number>> = {
  recoverRuns: 3 * MINUTE_MS,
  fireSchedules: 3 * MINUTE_MS,
  checkRuns: 150 * MINUTE_MS,
  deleteExpired: 75 * MINUTE_MS,
};
/** The scan moves 200 a minute; a run that it moves is due again in a minute at the earliest. */
const OVERDUE_MS = 5 * MINUTE_MS;
/** A task waits for seconds where the queue keeps up. */
const QUEUE_BEHIND_MS = 5 * MINUTE_MS;
/** The tick fires what is due each minute. */
export const SCHEDULE_LATE_MS = 3 * MINUTE_MS;
/** What is overdue for so long, two scans have passed over. */
export const STALE_AFTER_MS = 3 * MINUTE_MS;

export function ofFunctions({ beats, since, readAt }: HeardBeats): Finding[] {
  const told = BEATING.flatMap((name): Finding[] => {
    const beat = beats[name];
    const isScan = name === 'recoverRuns';
    const lastAt = beat?.at ?? since;
    if (lastAt === undefined || (!beat && readAt - lastAt <= LATE_MS[name])) return [];
    const agoMs = readAt - lastAt;
    const evidence = { function: name, lastMsAgo: agoMs };
    if (agoMs > LATE_MS[name])
      return [
        wrong(
          isScan ? 'SCAN_LATE' : 'FUNCTION_LATE',
          beat ? `${name} last ran ${span(agoMs)} ago` : `${name} has not run for ${span(agoMs)}, or ever`,
          {
            help: 'Look at Cloud Scheduler (gcloud scheduler jobs list --location REGION) and at the log of the function.',
            evidence,
          },
        ),
      ];
    if (beat?.outcome !== 'failed') return [];
    return [
      wrong(
        isScan ? 'SCAN_FAILED' : 'FUNCTION_FAILED',
        `${name} failed ${span(agoMs)} ago: ${beat.error ?? ''}`,
        {
          help: 'Look at the log of the function. It runs again by itself.',
          evidence,
        },
      ),
    ];
  });
  if (told.length > 0) return told;
  const missing = BEATING.filter((name) => !beats[name]);
  if (missing.length > 0)
    return [
      note('FUNCTION_NEVER', `not yet run since this was deployed: ${missing.join(', ')}`, {
        help: 'Two run each minute, one each half hour, one each hour. If it stays so: gcloud scheduler jobs list.',
        evidence: { functions: missing },
      }),
    ];
  const scan = beats.recoverRuns;
  return [
    well('FUNCTIONS', `the scheduled functions run: the scan ${span(readAt - (scan?.at ?? readAt))} ago`),
  ];
}

export interface Waking {
  /** How far the oldest due time lies behind; 0: none is due. */
  readonly lagMs: number;
  readonly due: number;
  readonly held: number;
  readonly stale: number;
  /** Runs that nobody drives and whose events are not all published. */
  readonly behind: number;
  /** More runs than were looked at have something to do. */
  readonly isCut: boolean;
}

export function ofRuns({ lagMs, due, stale, behind, isCut }: Waking, isOff: boolean): Finding[] {
  const evidence = { lagMs, due, stale, isCut };
  const found: Finding[] = [];
  if (lagMs > OVERDUE_MS) {
    const what = `${counted(due, 'run', isCut)} should have been looked at, the first ${span(lagMs)} ago`;
    found.push(
      isOff
        ? note('RUNS_HELD', `${what}: everything is stopped`, { evidence })
        : wrong('RUNS_OVERDUE', what, {
            help: 'recoverRuns does not run, does not keep up (200 a minute), or fails with them: scan_failed in its log.',
            evidence,
          }),
    );
  }
  if (stale > 0 && !isOff)
    found.push(
      wrong(
        'LEASES_STALE',
        `${counted(stale, 'lease')} of dead workers ran out long ago and were not taken over`,
        {
          help: 'The scan takes them over, so look at why it does not: recoverRuns.',
          evidence: { stale },
        },
      ),
    );
  if (behind > 0)
    found.push(
      note('EVENTS_BEHIND', `events of ${counted(behind, 'run')} that nobody drives wait to be published`, {
        help: 'It takes a minute. If it lasts: does the topic RUN_EVENTS_TOPIC exist, and may the functions publish to it?',
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

export function ofSchedules(late: number, isCut: boolean): Finding {
  const evidence = { late, isCut };
  if (late === 0) return well('SCHEDULES_IN_TIME', 'no schedule is late', evidence);
  return wrong(
    'SCHEDULES_LATE',
    `${counted(late, 'schedule', isCut)} should have fired more than ${span(SCHEDULE_LATE_MS)} ago`,
    {
      help: 'fireSchedules does not run, or fails with them: schedule_failed in its log.',
      evidence,
    },
  );
}

export function ofQueue(queue: SeenQueue, now: number): Finding[] {
  if (queue.kind === 'missing')
    return [
      wrong('QUEUE_MISSING', 'there is no queue drive: runs are only moved by the scan', {
        help: 'firebase deploy --only functions:drive makes it. Is CAIRN_REGION where the functions run?',
      }),
    ];
  if (queue.kind === 'denied') return [denied('the queue drive')];
  const { state, tasks } = queue;
  const depth = tasks.kind === 'counted' ? counted(tasks.depth, 'task', tasks.isCut) : undefined;
  const evidence = tasks.kind === 'counted' ? { state, depth: tasks.depth, isCut: tasks.isCut } : { state };
  if (state === 'paused' || state === 'disabled')
    return [
      wrong(
        'QUEUE_STOPPED',
        `the queue drive is ${state}${depth === undefined ? '' : ` with ${depth} in it`}`,
        {
          help: 'gcloud tasks queues resume drive --location REGION',
          evidence,
        },
      ),
    ];
  if (tasks.kind === 'denied') return [denied('what waits in the queue drive')];
  const behindMs = tasks.oldestDueAt === undefined ? 0 : now - tasks.oldestDueAt;
  if (behindMs > QUEUE_BEHIND_MS)
    return [
      wrong(
        'QUEUE_BEHIND',
        `a task of the queue drive has been due for ${span(behindMs)}; there are ${depth}`,
        {
          help: 'Does drive answer? 403: the account of the queue lacks roles/run.invoker on it (docs/deploy.md, step 4). 429: more instances.',
          evidence: { ...evidence, oldestMs: behindMs },
        },
      ),
    ];
  return [well('QUEUE', `the queue drive runs, with ${depth} in it`, evidence)];
}

function denied(what: string): Finding {
  return note('QUEUE_DENIED', `the functions may not see ${what}`, {
    help: 'Give their account roles/cloudtasks.viewer (docs/deploy.md, step 2), or: gcloud tasks queues describe drive --location REGION',
  });
}

export function ofSample({ beats, readAt }: HeardBeats): Finding[] {
  const { found } = beats;
  if (!found) return [];
  const codes = Object.entries(found.problems).sort(([a], [b]) => (a < b ? -1 : 1));
  const when = `${span(readAt - found.at)} ago`;
  if (codes.length === 0)
    return [well('SAMPLE', `${counted(found.checked, 'run')} checked ${when}, all as they should be`)];
  const named = codes.map(([code, count]) => `${code} (${count})`).join(', ');
  return [
    wrong(
      'PROBLEMS_FOUND',
      `of ${counted(found.checked, 'run')} checked ${when} some have problems: ${named}`,
      {
        help: 'Which runs: run_inconsistent in the log of checkRuns. Then cairn check RUN, and the section of the code in docs/operations.md.',
        evidence: { problems: Object.fromEntries(codes), checked: found.checked },
      },
    ),
  ];
}
