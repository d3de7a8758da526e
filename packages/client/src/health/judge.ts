/**
 * Judges the health of an installation, for the command line and the console. Findings of the installation itself are used
 * unchanged; the rest follows from answers that any role may read. Pure.
 *
 * Must not: repeat a threshold of the installation's own diagnosis.
 */
import type { Answer } from 'cairn/api/calls';
import type { Exchange } from '../client.ts';
import { type Refusal, Unreachable } from '../problem.ts';
import type { Finding } from './findings.ts';
import * as findings from './findings.ts';

export type AnswerOrError<T> = { readonly answer: T } | { readonly error: Refusal | Unreachable };

/** Answers about an installation. Absent: not requested. */
export interface HealthAnswers {
  readonly url?: string | undefined;
  /** Answer of `GET /v1/healthz`, with its time. */
  readonly exchange?: AnswerOrError<Exchange> | undefined;
  /** Answer of `GET /v1/healthz`, where the time of the request is unknown. */
  readonly health?: Answer<'Health'> | undefined;
  readonly diagnosis?: AnswerOrError<Pick<Answer<'Diagnosis'>, 'findings' | 'environment'>> | undefined;
  readonly workflows?: AnswerOrError<Answer<'WorkflowList'>> | undefined;
  readonly schedules?: AnswerOrError<readonly Answer<'ScheduleSummary'>[]> | undefined;
  /** A sample of the live runs. */
  readonly runs?: AnswerOrError<readonly Answer<'RunSummary'>[]> | undefined;
}

/** @param now time of the installation, epoch ms */
export function judgeHealth(answers: HealthAnswers, now: number): Finding[] {
  const { url = 'the API', exchange, health, diagnosis, workflows, schedules, runs } = answers;
  const installation = judged('diagnosis', diagnosis, ofInstallation, ofRefusedDiagnosis);
  const switches = judged('workflows', workflows, (list) => findings.workflows(list, now));
  const isOff = [...installation, ...switches].some(({ code }) => STOPS.has(code));
  return [
    ...judged('health', exchange, (reply) => [
      findings.reachability(url, reply),
      findings.clock(reply, diagnosis !== undefined && 'answer' in diagnosis && isLocal(diagnosis.answer)),
    ]),
    ...(health ? [findings.store(health, url)] : []),
    ...installation,
    ...switches,
    ...judged('schedules', schedules, (items) => findings.schedules(items, now)),
    ...judged('runs', runs, (items) => findings.liveRuns(items, { now, isOff })),
  ];
}

/** Environment of an installation on this machine, where `gcloud` commands do not apply. */
const LOCAL = 'local';

export function isLocal({ environment }: Pick<Answer<'Diagnosis'>, 'environment'>): boolean {
  return environment === LOCAL;
}

function ofInstallation(
  diagnosis: Pick<Answer<'Diagnosis'>, 'findings' | 'environment'>,
): readonly Finding[] {
  const { findings } = diagnosis;
  if (!isLocal(diagnosis)) return findings;
  return findings.map((one) => (one.help?.includes('gcloud ') ? { ...one, help: undefined } : one));
}

/** Codes of findings that say that no run is dispatched. */
const STOPS: ReadonlySet<string> = new Set(['KILL_SWITCH', 'RESTORE_HELD']);
/** Codes after which every other request would fail too. */
const SILENCE: ReadonlySet<string> = new Set(['UNREACHABLE', 'NOT_CAIRN']);

export function isSilent(found: readonly Finding[]): boolean {
  return found.some(({ code }) => SILENCE.has(code));
}

/** Readings of a diagnosis, each with the codes that mark it as wrong. */
const READINGS = {
  scan: ['SCAN_LATE', 'SCAN_FAILED', 'RUNS_OVERDUE'],
  queue: ['QUEUE_MISSING', 'QUEUE_STOPPED', 'QUEUE_BEHIND'],
  leases: ['LEASES_STALE'],
  schedules: ['SCHEDULES_LATE'],
} as const;

export type Reading = keyof typeof READINGS;

/** True if a finding marks the reading as wrong. */
export function isWrong(reading: Reading, found: readonly Finding[]): boolean {
  const codes: readonly string[] = READINGS[reading];
  return found.some(({ code, state }) => state === 'wrong' && codes.includes(code));
}

function judged<T>(
  what: string,
  asked: AnswerOrError<T> | undefined,
  judge: (answer: T) => readonly Finding[],
  ofRefusal: (refusal: Refusal) => Finding | undefined = () => undefined,
): readonly Finding[] {
  if (asked === undefined) return [];
  if ('answer' in asked) return judge(asked.answer);
  const { error } = asked;
  if (error instanceof Unreachable) return [findings.unreachable(error.message)];
  return [ofRefusal(error) ?? findings.refused(what, error)];
}

/** Finding for a key without the role `installation`. */
function ofRefusedDiagnosis({ problem }: Refusal): Finding | undefined {
  if (problem.status === 403) return findings.MORE_AS_ADMIN;
  return problem.status === 404 ? findings.OLDER_API : undefined;
}
