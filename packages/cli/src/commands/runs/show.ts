/** `runs show`, and the parts of a run: events, steps, checkpoints, outputs. */
import { newestEvents, readUndecidable } from '@cairn/client';
import type { OutputShape } from '../../context.ts';
import { effectTable } from '../../views/effects.ts';
import { memoTable } from '../../views/memos.ts';
import {
  blockedText,
  findingText,
  runHead,
  section,
  signalTable,
  stepTable,
  waitList,
} from '../../views/run-page.ts';
import { errorDetails } from '../../views/stack.ts';
import { timelineLine } from '../../views/timeline.ts';
import { assertStep } from '../did-you-mean.ts';
import { DEFAULT_LISTED, limitOption, noteMore } from '../listed.ts';
import { runCommand } from './named.ts';

/** Events on the page. `--events` and `runs events` show more. */
const DEFAULT_EVENTS = 200;
const MAX_EVENTS = 10_000;
/** Steps and items on the page. */
const STEPS = 100;
const EFFECTS = 100;
const MAX_LISTED = 10_000;
/** Maximum of memos of one revision of a step. */
const MAX_MEMOS = 1_000;
const MAX_REVISION = 999_999_999;

export const showRun = runCommand({
  name: 'runs show',
  summary: 'Show a run: its steps, effects, waits and events',
  options: {
    events: {
      type: 'number',
      value: 'N',
      range: [0, MAX_EVENTS],
      help: `newest events to show (default ${DEFAULT_EVENTS})`,
    },
  },
  examples: [
    ['runs show last', 'the newest run'],
    ['runs show run_mzx2qk7d5yhi3nvbwe4tgauoly --events 1000', 'with more events'],
  ],
  async run({ api, out }, id, { options }) {
    const params = { id };
    const run = await api.get('/v1/runs/{id}', { params });
    const [steps, effects, events, isUndecidable] = await Promise.all([
      api.list('/v1/runs/{id}/steps', { params, limit: STEPS }),
      api.list('/v1/runs/{id}/effects', { params, limit: EFFECTS }),
      newestEvents(api, run, options.events ?? DEFAULT_EVENTS),
      readUndecidable(api, run),
    ]);
    const all = { run, steps: steps.items, effects: effects.items, events };
    const page = (shape: OutputShape) =>
      [
        runHead(run, api.now(), shape),
        run.error ? section('Error', errorDetails(run.error, shape), shape) : '',
        run.finding ? section('Problem', findingText(run.finding, shape), shape) : '',
        run.blocked ? section('Blocked', blockedText(run.blocked, api.now(), shape), shape) : '',
        section(steps.more ? `Steps (the first ${STEPS})` : 'Steps', stepTable(all.steps, shape, run), shape),
        section(
          effects.more ? `Effects (the first ${EFFECTS})` : 'Effects',
          effectTable(effects.items, api.now(), shape),
          shape,
        ),
        section('Unread signals', signalTable(run.inbox, shape), shape),
        section('Waits', waitList({ run, isUndecidable }, api.now(), shape), shape),
        section(
          events.length < run.head ? `Events (the newest ${events.length} of ${run.head} events)` : 'Events',
          events.map((event) => timelineLine(event, run.createdAt, shape)).join(''),
          shape,
        ),
      ].join('');
    out.answer(all, page);
  },
});

export const listEvents = runCommand({
  name: 'runs events',
  summary: 'Print the journal of a run, oldest first',
  options: {
    limit: limitOption({ most: MAX_LISTED, what: 'the newest so many' }),
  },
  examples: [['runs events last --limit 1000 --json', 'every event as it is stored']],
  async run({ api, out }, id, { options }) {
    const run = await api.get('/v1/runs/{id}', { params: { id } });
    const events = await newestEvents(api, run, options.limit ?? DEFAULT_LISTED);
    out.answer(events, (shape) => events.map((event) => timelineLine(event, run.createdAt, shape)).join(''));
  },
});

export const listSteps = runCommand({
  name: 'runs steps',
  summary: 'List the steps of a run',
  options: {
    limit: limitOption({ most: MAX_LISTED }),
  },
  examples: [['runs steps last --json', 'for a script']],
  async run(context, id, { options }) {
    const { api, out } = context;
    const params = { id };
    const { items, more } = await api.list('/v1/runs/{id}/steps', {
      params,
      limit: options.limit ?? DEFAULT_LISTED,
    });
    out.answer(items, (shape) => stepTable(items, shape));
    noteMore(context, more);
  },
});

export const listCheckpoints = runCommand({
  name: 'runs checkpoints',
  summary: 'Print the checkpoints of a run with their outputs as JSON, oldest first',
  options: {
    limit: limitOption({ most: MAX_LISTED }),
  },
  examples: [['runs checkpoints last', 'outputs with the number of their checkpoint']],
  async run({ api, out }, id, { options }) {
    const params = { id };
    const { items } = await api.list('/v1/runs/{id}/checkpoints', {
      params,
      limit: options.limit ?? DEFAULT_LISTED,
    });
    out.print(`${JSON.stringify(items, null, 2)}\n`);
  },
});

export const listMemos = runCommand({
  name: 'runs memos',
  summary: 'List the memos of a step',
  args: { step: { help: 'step, or one item: STEP[KEY]; see runs steps' } },
  options: {
    revision: {
      type: 'number',
      value: 'N',
      range: [1, MAX_REVISION],
      help: 'revision (default its newest)',
    },
    undo: { type: 'flag', help: 'those of its compensation instead' },
    limit: limitOption({ most: MAX_MEMOS }),
  },
  examples: [['runs memos last import --json', 'with whole values']],
  async run(context, id, { args, options }) {
    const { api, out, notes } = context;
    const { revision, undo, limit = DEFAULT_LISTED } = options;
    await assertStep(api, id, args.step);
    const { items, more } = await api.list('/v1/runs/{id}/memos', {
      params: { id },
      query: { step: args.step, revision, undoes: undo || undefined },
      limit,
    });
    out.answer(items, (shape) => memoTable(items, api.now(), shape));
    if (items.length === 0 && !out.json) notes.print('No memos.\n');
    noteMore(context, more);
  },
});

export const readOutput = runCommand({
  name: 'runs output',
  summary: 'Print the output of a step, or the input or result of the run, as JSON',
  args: { checkpoint: { help: 'number of the checkpoint; see runs show' } },
  examples: [['runs output last 7 > output.json', 'into a file']],
  async run({ api, out }, id, { args }) {
    const params = { id, seq: args.checkpoint };
    const output = await api.get('/v1/runs/{id}/checkpoints/{seq}/output', { params });
    out.print(`${JSON.stringify(output, null, 2)}\n`);
  },
});
