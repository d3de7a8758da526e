/** `schedules …`: runs at recurring times. */
import {
  type CommandSpec,
  command,
  type None,
  type OptionSpecs,
  type OptionsOf,
} from '../arguments/command.ts';
import { isAgo, jsonValue, timeValue } from '../arguments/values.ts';
import type { CommandContext } from '../context.ts';
import { UsageError } from '../exit.ts';
import { scheduleLines, scheduleTable } from '../views/schedules.ts';
import type { World } from '../world.ts';
import { aboutSchedule, aboutType } from './did-you-mean.ts';
import { limitOption, noteMore } from './listed.ts';

const SCHEDULE = { help: 'id of the schedule; see schedules list' } as const;
const CATCH_UPS = ['skip', 'latest', 'all'] as const;
const MAX_LISTED = 1_000;
const DEFAULT_LISTED = 50;

/** Options of `schedules create` and `schedules change`. */
const TIMING = {
  timezone: { type: 'text', value: 'ZONE', help: 'IANA name, e.g. Europe/Berlin (default UTC)' },
  input: { type: 'text', value: 'JSON', help: 'input of every run: JSON, @FILE, or -' },
  'catch-up': {
    type: 'text',
    value: 'POLICY',
    choices: CATCH_UPS,
    help: 'handling of missed slots',
  },
  name: { type: 'text', help: 'display name' },
} as const;

export const listSchedules = command({
  name: 'schedules list',
  summary: 'List schedules, newest first',
  options: {
    limit: limitOption({ most: MAX_LISTED, usual: DEFAULT_LISTED }),
  },
  examples: [['schedules list', 'with the next slot and the last outcome']],
  async run({ api, out, notes }, { options: { limit = DEFAULT_LISTED } }) {
    const { items, more } = await api.list('/v1/schedules', { limit });
    out.answer({ items, more }, (shape) => scheduleTable(items, api.now(), shape));
    if (items.length === 0 && !out.json) notes.print('No schedules.\n');
    noteMore({ out, notes }, more);
  },
});

type ScheduleCommandSpec<O extends OptionSpecs> = Omit<CommandSpec<None, O>, 'args' | 'run'> & {
  run(context: CommandContext, params: { readonly id: string }, options: OptionsOf<O>): Promise<undefined>;
};

/** Makes a command about one schedule. For an unknown id, the refusal suggests the nearest one. */
function scheduleCommand<const O extends OptionSpecs = None>({ run, ...spec }: ScheduleCommandSpec<O>) {
  return command<{ readonly schedule: typeof SCHEDULE }, O>({
    ...spec,
    args: { schedule: SCHEDULE },
    run: (context, { args: { schedule: id }, options }) =>
      aboutSchedule(context.api, id, run(context, { id }, options)),
  });
}

export const showSchedule = scheduleCommand({
  name: 'schedules show',
  summary: 'Show a schedule and its next slots',
  examples: [['schedules show daily-report.core', 'the next slots of the cron expression']],
  async run({ api, out }, params) {
    const schedule = await api.get('/v1/schedules/{id}', { params });
    out.answer(schedule, (shape) => scheduleLines(schedule, api.now(), shape));
  },
});

export const createSchedule = command({
  name: 'schedules create',
  summary: 'Start runs of a workflow on a cron schedule',
  args: { type: { help: 'the workflow' }, cron: { help: 'five fields, in quotes' } },
  options: TIMING,
  mutates: true,
  examples: [['schedules create nightly-cleanup "30 3 * * *" --timezone Europe/Berlin', 'every night']],
  async run({ api, out, world }, { args, options }) {
    const body = { type: args.type, cron: args.cron, ...(await bodyOf(options, world)) };
    const schedule = await aboutType(api, args.type, api.change('POST', '/v1/schedules', { body }));
    out.answer(schedule, (shape) => scheduleLines(schedule, api.now(), shape));
  },
});

export const changeSchedule = scheduleCommand({
  name: 'schedules change',
  summary: 'Change a schedule; omitted options stay',
  options: {
    cron: { type: 'text', value: 'LINE', help: 'five fields, in quotes' },
    ...TIMING,
    'no-name': { type: 'flag', help: 'remove its name' },
  },
  mutates: true,
  examples: [['schedules change 7c1f --cron "0 6 * * *"', 'at six']],
  async run({ api, out, world }, params, options) {
    if (options.name !== undefined && options['no-name'])
      throw new UsageError('--name and --no-name exclude each other');
    const body = {
      cron: options.cron,
      ...(await bodyOf(options, world)),
      ...(options['no-name'] ? { name: null } : {}),
    };
    const schedule = await api.change('PATCH', '/v1/schedules/{id}', { params, body });
    out.answer(schedule, (shape) => scheduleLines(schedule, api.now(), shape));
  },
});

export const pauseSchedule = scheduleCommand({
  name: 'schedules pause',
  summary: 'Pause a schedule',
  options: { reason: { type: 'text', value: 'TEXT', help: 'reason' } },
  mutates: true,
  examples: [['schedules pause 7c1f --reason holidays', 'slots during a pause are not caught up']],
  async run({ api, out }, params, body) {
    const schedule = await api.change('POST', '/v1/schedules/{id}/pause', { params, body });
    out.answer(schedule, () => `paused ${schedule.id}\n`);
  },
});

export const resumeSchedule = scheduleCommand({
  name: 'schedules resume',
  summary: 'Resume a schedule',
  mutates: true,
  examples: [['schedules resume 7c1f', 'from its next slot']],
  async run({ api, out }, params) {
    const schedule = await api.change('POST', '/v1/schedules/{id}/resume', { params });
    out.answer(schedule, (shape) => scheduleLines(schedule, api.now(), shape));
  },
});

export const triggerSchedule = scheduleCommand({
  name: 'schedules trigger',
  summary: 'Start one run of a schedule now',
  mutates: true,
  examples: [['schedules trigger 7c1f', 'outside its slots; also while paused']],
  async run({ api, out }, params) {
    const made = await api.change('POST', '/v1/schedules/{id}/trigger', { params });
    out.answer(made, () => `${made.runId}\n`);
  },
});

/** Uncertainty of the installation's clock, ms. The installation refuses future slots. */
const AGREEMENT_MS = 5_000;

export const backfillSchedule = scheduleCommand({
  name: 'schedules backfill',
  summary: 'Start the runs of past slots that have none',
  options: {
    from: {
      type: 'text',
      value: 'TIME',
      help: 'the first slot: a time, or how long ago like 3d',
      required: 'a backfill requires its first slot',
    },
    to: { type: 'text', value: 'TIME', help: 'the last slot (default: now)' },
    'dry-run': { type: 'flag', help: 'only count them' },
  },
  mutates: true,
  examples: [['schedules backfill 7c1f --from 2025-12-01 --to 2025-12-07 --dry-run', 'count them first']],
  async run({ api, out, world }, params, options) {
    const slotsAt = (now: number) => ({
      from: timeValue('--from', options.from, now),
      to:
        options.to === undefined
          ? new Date(now - AGREEMENT_MS).toISOString()
          : timeValue('--to', options.to, now),
    });
    // Refuses an invalid time before anything is sent.
    slotsAt(world.now());
    // Slots use the clock of the installation, which its responses carry.
    if (options.to === undefined || isAgo(options.from) || isAgo(options.to))
      await api.get('/v1/schedules/{id}', { params });
    const body = { ...slotsAt(api.now()), dryRun: options['dry-run'] };
    const done = await api.change('POST', '/v1/schedules/{id}/backfill', { params, body });
    const { slots, started, existing } = done;
    out.answer(done, () =>
      done.dryRun
        ? `${slots} slots, ${existing} of them with a run; none was started\n`
        : `${slots} slots: ${started} runs started, ${existing} had one\n`,
    );
  },
});

export const deleteSchedule = scheduleCommand({
  name: 'schedules delete',
  summary: 'Delete a schedule; its runs stay',
  mutates: true,
  examples: [['schedules delete 7c1f', 'not one that a workflow declares']],
  async run({ api, out }, params) {
    const deleted = await api.change('DELETE', '/v1/schedules/{id}', { params });
    out.answer(deleted, () => `deleted ${deleted.id}\n`);
  },
});

interface TimingOptions {
  readonly timezone: string | undefined;
  readonly input: string | undefined;
  readonly 'catch-up': (typeof CATCH_UPS)[number] | undefined;
  readonly name: string | undefined;
}

async function bodyOf({ timezone, input, name, 'catch-up': catchUp }: TimingOptions, world: World) {
  return { timezone, input: await jsonValue('--input', input, world), catchUp, name };
}
