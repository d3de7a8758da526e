/** Actions on a schedule, each as a request and as a command. Pure. */
import { type Answer, planned } from '../../api/client.ts';
import { type PlannedAct, reasonOf } from '../../parts/act.ts';
import { option } from '../../parts/command-text.ts';

type ScheduleDetails = Answer<'Schedule'>;
/** Treatment of missed slots. */
export const CATCH_UPS = {
  skip: 'skip: missed slots are not run',
  latest: 'latest: the last missed slot is run',
  all: 'all: each missed slot is run',
} as const;

export type CatchUpMode = ScheduleDetails['catchUp'];

/** As filled in. */
interface ScheduleInput {
  readonly type: string;
  /** Empty: none. */
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
  readonly catchUp: CatchUpMode;
  readonly input: unknown;
}

type ScheduleTiming = Pick<ScheduleInput, 'timezone' | 'catchUp' | 'input'>;

const timingWords = ({ timezone, catchUp, input }: Partial<ScheduleTiming>) => [
  ...(timezone === undefined ? [] : option('timezone', timezone)),
  ...(catchUp === undefined ? [] : option('catch-up', catchUp)),
  ...(input === undefined ? [] : option('input', JSON.stringify(input))),
];

export function makeSchedule({
  type,
  name,
  cron,
  ...timing
}: ScheduleInput): PlannedAct<'POST', '/v1/schedules'> {
  const named = name === '' ? {} : { name };
  return {
    planned: planned('POST', '/v1/schedules', { body: { type, cron, ...timing, ...named } }),
    cli: [
      ...['schedules', 'create', type, cron],
      ...timingWords(timing),
      ...(name === '' ? [] : option('name', name)),
    ],
  };
}

/** The changed members only, so that concurrent changes of others stay. Undefined: nothing changed. */
export function changeSchedule(
  schedule: Pick<ScheduleDetails, 'id' | 'name' | 'cron' | 'timezone' | 'catchUp' | 'input'>,
  wanted: Omit<ScheduleInput, 'type'>,
): PlannedAct<'PATCH', '/v1/schedules/{id}'> | undefined {
  const { id } = schedule;
  const { name, cron, timezone, catchUp, input } = wanted;
  const timing = {
    ...(timezone !== schedule.timezone && { timezone }),
    ...(catchUp !== schedule.catchUp && { catchUp }),
    ...(JSON.stringify(input) !== JSON.stringify(schedule.input) && { input }),
  };
  const hasOtherName = name !== (schedule.name ?? '');
  const body = {
    ...(cron !== schedule.cron && { cron }),
    ...timing,
    ...(hasOtherName && { name: name === '' ? null : name }),
  };
  if (Object.keys(body).length === 0) return undefined;
  const naming = name === '' ? ['--no-name'] : option('name', name);
  return {
    planned: planned('PATCH', '/v1/schedules/{id}', { params: { id }, body }),
    cli: [
      ...['schedules', 'change', id],
      ...(body.cron === undefined ? [] : option('cron', body.cron)),
      ...timingWords(timing),
      ...(hasOtherName ? naming : []),
    ],
  };
}

export function pauseSchedule(id: string, typed: string): PlannedAct<'POST', '/v1/schedules/{id}/pause'> {
  const why = reasonOf(typed);
  return {
    planned: planned('POST', '/v1/schedules/{id}/pause', { params: { id }, body: why }),
    cli: ['schedules', 'pause', id, ...(why.reason === undefined ? [] : option('reason', why.reason))],
  };
}

export function resumeSchedule(id: string): PlannedAct<'POST', '/v1/schedules/{id}/resume'> {
  return {
    planned: planned('POST', '/v1/schedules/{id}/resume', { params: { id } }),
    cli: ['schedules', 'resume', id],
  };
}

export function triggerSchedule(id: string): PlannedAct<'POST', '/v1/schedules/{id}/trigger'> {
  return {
    planned: planned('POST', '/v1/schedules/{id}/trigger', { params: { id } }),
    cli: ['schedules', 'trigger', id],
  };
}

export function deleteSchedule(id: string): PlannedAct<'DELETE', '/v1/schedules/{id}'> {
  return {
    planned: planned('DELETE', '/v1/schedules/{id}', { params: { id } }),
    cli: ['schedules', 'delete', id],
  };
}

export interface Range {
  readonly from: string;
  readonly to: string;
}

/** @param dryRun it only counts the slots */
export function backfillSchedule(
  id: string,
  range: Range,
  dryRun = false,
): PlannedAct<'POST', '/v1/schedules/{id}/backfill'> {
  const { from, to } = range;
  return {
    planned: planned('POST', '/v1/schedules/{id}/backfill', { params: { id }, body: { from, to, dryRun } }),
    cli: [
      ...['schedules', 'backfill', id],
      ...option('from', from),
      ...option('to', to),
      ...(dryRun ? ['--dry-run'] : []),
    ],
  };
}
