/** Explains one run. Names what does not fit into the answer, and the tool that returns it. */
import { explainRun, firstWait, newestEvents, questionText, readActivity, readPlaces } from '@cairn/client';
import { z } from 'zod';
import { bounded, clipped, isComplete } from '../../bounded.ts';
import { RUN_ID } from '../arguments.ts';
import { read } from '../tool.ts';
import { wholeRun } from './shown-run.ts';

const MAX_EVENTS = 50;
const DEFAULT_EVENTS = 10;
const MAX_STEPS = 100;
const MAX_EFFECTS = 50;
const MAX_WAITS = 100;
/** Longest JSON of the input, and of the result. */
const MAX_VALUE_CHARS = 4_000;
const MAX_QUESTION_CHARS = 2_000;

export const getRun = read({
  name: 'get_run',
  title: 'Explain a run',
  description:
    'Explains one run: what it is doing, why and since when, where the code of its flows is, what would move it on, with its first steps, open waits and effects and its newest events. list_run_items has the others (more), read_value whole values. Role viewer.',
  input: z.strictObject({
    runId: RUN_ID,
    events: z
      .int()
      .min(0)
      .max(MAX_EVENTS)
      .optional()
      .describe(`How many of the newest events: 0 to ${MAX_EVENTS}, default ${DEFAULT_EVENTS}.`),
  }),
  async run(client, { runId, events = DEFAULT_EVENTS }) {
    const params = { id: runId };
    const run = await client.get('/v1/runs/{id}', { params });
    const [activity, code, steps, effects, newest] = await Promise.all([
      readActivity(client, run),
      readPlaces(client, run),
      client.list('/v1/runs/{id}/steps', { params, limit: MAX_STEPS }),
      client.list('/v1/runs/{id}/effects', { params, limit: MAX_EFFECTS }),
      newestEvents(client, run, events),
    ]);
    const { text, since: from, until, help } = explainRun(run, activity);
    const input = bounded(run.input, MAX_VALUE_CHARS);
    const result = bounded(run.result, MAX_VALUE_CHARS);
    const rest = {
      explanation: { text, since: from, until, help, code },
      run: { ...wholeRun(run), input: input.value, result: result.value },
    };
    const fitted = fittedLists(rest, {
      steps: steps.items,
      effects: effects.items,
      waits: run.waits.slice(0, MAX_WAITS),
      newestEvents: newest.map(({ seq, type, at, initiator, actor, data }) => ({
        seq,
        type,
        at,
        initiator,
        actor,
        data,
      })),
    });
    const { waits, ...lists } = fitted;
    const more = {
      steps: steps.more || lists.steps.length < steps.items.length,
      effects: effects.more || lists.effects.length < effects.items.length,
      waits: waits.length < run.waits.length,
      events: lists.newestEvents.length < run.head,
    };
    // Leaves out events: there are nearly always more.
    const kinds = (['steps', 'effects', 'waits'] as const).filter((kind) => more[kind]);
    const values = [
      ...(input.isCut || run.inputRef ? ['input'] : []),
      ...(result.isCut || run.resultRef ? ['result'] : []),
    ];
    const asking = firstWait(run.waits);
    const lines = [
      `${run.type} v${run.planVersion} ${run.status}: ${text}`,
      from && `since ${from}`,
      until && `until ${until}`,
      asking?.kind === 'approval' && `question: ${clipped(questionText(asking.detail), MAX_QUESTION_CHARS)}`,
      help,
      ...code.map(({ step, state, location }) => `${step} (${state}) was asked for at ${location}`),
      run.error && `error: ${run.error.code} ${run.error.message}`,
      run.finding && `finding: ${run.finding.title}. ${run.finding.help}`,
      kinds.length > 0 && `There are more ${kinds.join(', ')}: list_run_items has all of a kind.`,
      values.length > 0 && `read_value has the whole ${values.join(' and the whole ')}.`,
    ];
    return {
      text: lines.filter(Boolean).join('\n'),
      data: { ...rest, run: { ...rest.run, waits }, ...lists, more },
    };
  },
});

type Lists = Readonly<Record<string, readonly unknown[]>>;

/** Shortens the longest lists until all fit beside `rest`. The newest events are at the end of their list. */
function fittedLists<L extends Lists>(rest: Readonly<Record<string, unknown>>, lists: L): L {
  const sizes = Object.entries(lists).map(([name, list]) => [JSON.stringify(list).length, name] as const);
  const [, longest = ''] = sizes
    .filter(([, name]) => (lists[name]?.length ?? 0) > 1)
    .reduce((a, b) => (b[0] > a[0] ? b : a), [0, ''] as const);
  const list = lists[longest];
  if (list === undefined || isComplete({ ...rest, ...lists })) return lists;
  const half = list.length >> 1;
  const shorter = longest === 'newestEvents' ? list.slice(-half) : list.slice(0, half);
  return fittedLists(rest, { ...lists, [longest]: shorter });
}
