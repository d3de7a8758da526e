/** Schedules in a list, and one with its times. Pure. */
import { ago } from '@cairn/client';
import type { Answer } from 'cairn/api/calls';
import type { OutputShape } from '../context.ts';
import { statusTone } from '../render/style.ts';
import { table } from '../render/table.ts';
import { moment } from '../render/time.ts';
import { clean } from '../render/width.ts';

/** @param now epoch ms */
export function scheduleTable(
  schedules: readonly Answer<'ScheduleSummary'>[],
  now: number,
  shape: OutputShape,
): string {
  return table(
    schedules,
    [
      { title: 'SCHEDULE', of: ({ id }) => id, least: 16 },
      { title: 'NAME', of: ({ name }) => name ?? '', least: 8, dropOrder: 3 },
      { title: 'WORKFLOW', of: ({ type }) => type, least: 10, dropOrder: 4 },
      {
        title: 'CRON',
        of: ({ cron, timezone }) => (timezone === 'Etc/UTC' ? cron : `${cron} ${timezone}`),
        least: 10,
        dropOrder: 1,
      },
      { title: 'STATE', of: ({ state }) => state, tone: ({ state }) => statusTone(state) },
      {
        title: 'NEXT',
        of: ({ nextAt, state }) => (state === 'active' ? ago(nextAt, now) : ''),
        align: 'right',
      },
      {
        title: 'LAST',
        of: ({ last }) => last?.error?.code ?? last?.runId ?? '',
        tone: ({ last }) => (last?.error ? 'bad' : 'plain'),
        least: 10,
        dropOrder: 2,
      },
    ],
    shape,
  );
}

export function scheduleLines(schedule: Answer<'Schedule'>, now: number, { style }: OutputShape): string {
  const { id, name, type, cron, timezone, state, catchUp, pause, last, slots, upcoming, origin } = schedule;
  const rows: (readonly [string, string | undefined])[] = [
    [
      'starts',
      `${type} at '${cron}' ${timezone}${origin === 'declared' ? ', declared by the workflow' : ''}`,
    ],
    ['name', name],
    ['input', JSON.stringify(schedule.input)],
    ['catch-up', catchUp],
    [
      'paused',
      pause &&
        `${moment(pause.since)} by ${pause.by}${pause.reason === undefined ? '' : `: ${pause.reason}`}`,
    ],
    [
      'last',
      last &&
        `${moment(last.slot)}: ${last.error ? `${last.error.code}: ${last.error.message}` : last.runId}`,
    ],
    ['slots', `${slots.fired} fired, ${slots.skipped} skipped, ${slots.refused} refused`],
    ...upcoming.map((slot, at): readonly [string, string] => [
      at === 0 ? 'next' : '',
      `${moment(slot)} (${ago(slot, now)})`,
    ]),
  ];
  const facts = rows
    .filter((row): row is readonly [string, string] => row[1] !== undefined)
    .map(([title, text]) => `  ${style.dim(title.padEnd(8))}  ${clean(text)}\n`);
  return `${style.bold(clean(id))} ${style.paint(statusTone(state), state)}\n${facts.join('')}`;
}
