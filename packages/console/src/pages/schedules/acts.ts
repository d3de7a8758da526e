/** Actions on a schedule, each as a request and as a command. Pure. */
import type { Answer } from '../../api/client.ts';
import { plannedAct, reasonOf } from '../../parts/act.ts';
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
  ...option('timezone', timezone),
  ...option('catch-up', catchUp),
  ...option('input', input === undefined ? undefined : JSON.stringify(input)),
];

export function makeSchedule({ type, name: typed, cron, ...timing }: ScheduleInput) {
  const name = typed === '' ? undefined : typed;
  return plannedAct('POST', '/v1/schedules', {
    change: { body: { type, cron, ...timing, name } },
    cli: ['schedules', 'create', type, cron, ...timingWords(timing), ...option('name', name)],
  });
}

/** Sends only the changed members, so that concurrent changes of other members stay. Undefined if nothing changed. */
export function changeSchedule(
  schedule: Pick<ScheduleDetails, 'id' | 'name' | 'cron' | 'timezone' | 'catchUp' | 'input'>,
  wanted: Omit<ScheduleInput, 'type'>,
) {
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
  return plannedAct('PATCH', '/v1/schedules/{id}', {
    change: { params: { id }, body },
    cli: [
      ...['schedules', 'change', id],
      ...option('cron', body.cron),
      ...timingWords(timing),
      ...(hasOtherName ? naming : []),
    ],
  });
}

export function pauseSchedule(id: string, typed: string) {
  const body = reasonOf(typed);
  const cli = ['schedules', 'pause', id, ...option('reason', body.reason)];
  return plannedAct('POST', '/v1/schedules/{id}/pause', { change: { params: { id }, body }, cli });
}

export function resumeSchedule(id: string) {
  const cli = ['schedules', 'resume', id];
  return plannedAct('POST', '/v1/schedules/{id}/resume', { change: { params: { id } }, cli });
}

export function triggerSchedule(id: string) {
  const cli = ['schedules', 'trigger', id];
  return plannedAct('POST', '/v1/schedules/{id}/trigger', { change: { params: { id } }, cli });
}

export function deleteSchedule(id: string) {
  const cli = ['schedules', 'delete', id];
  return plannedAct('DELETE', '/v1/schedules/{id}', { change: { params: { id } }, cli });
}

export interface Range {
  readonly from: string;
  readonly to: string;
}

/** @param dryRun only counts the slots */
export function backfillSchedule(id: string, { from, to }: Range, dryRun = false) {
  const range = [...option('from', from), ...option('to', to)];
  return plannedAct('POST', '/v1/schedules/{id}/backfill', {
    change: { params: { id }, body: { from, to, dryRun } },
    cli: ['schedules', 'backfill', id, ...range, ...(dryRun ? ['--dry-run'] : [])],
  });
}
