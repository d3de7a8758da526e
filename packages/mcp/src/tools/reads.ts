/** Tools that only read. Each makes a bounded number of requests and shows a bounded number of items. */
import { ago, type CairnClient, explainRun, newestEvents, readActivity, readPlaces } from '@cairn/client';
import type { Answer } from 'cairn/api/calls';
import { z } from 'zod';
import type { ToolResponse } from '../answer.ts';
import { isComplete, MAX_SAID_CHARS } from '../bounded.ts';
import { CURSOR, DEFAULT_LISTED, LIMIT, RUN_ID } from './arguments.ts';
import { read, type Tool } from './tool.ts';

const MAX_EVENTS = 50;
const DEFAULT_EVENTS = 10;
const MAX_STEPS = 100;
const MAX_EFFECTS = 50;
/** The longest name of a tag, a colon, the longest value. */
const MAX_TAG_CHARS = 251;
/** Above what the API takes: it says why it takes no more. */
const MAX_MATCH_CHARS = 400;

const SORTS = ['newest', 'oldest', 'longest', 'updated'] as const;

const listRuns = read({
  name: 'list_runs',
  title: 'List runs',
  description:
    'Lists runs in short, newest first unless sort says otherwise. Filters can be combined. Role viewer.',
  input: z.strictObject({
    status: z
      .array(z.string().max(40))
      .max(10)
      .optional()
      .describe(
        'Any of these: pending, running, awaiting_approval, waiting_external, interrupted, replaying, completed, failed, cancelled.',
      ),
    type: z.string().max(200).optional().describe('Runs of this workflow.'),
    threadId: z.string().max(255).optional(),
    tag: z.string().max(MAX_TAG_CHARS).optional().describe('Such as customer:42.'),
    match: z
      .string()
      .min(1)
      .max(MAX_MATCH_CHARS)
      .optional()
      .describe(
        'A comparison of a tag, such as amount>100, or the beginning of an id, key, thread, tag or value of a tag, such as customer:4*. A page can then be short or empty while there is a next.',
      ),
    sort: z
      .enum(SORTS)
      .optional()
      .describe(
        'Default: newest. longest: by the duration, of a live run since its creation. updated: changed last first. A page of another order than newest can be short or empty while there is a next.',
      ),
    since: z.iso.datetime().optional().describe('Created at this time or later.'),
    until: z.iso.datetime().optional().describe('Created before this time.'),
    limit: LIMIT,
    cursor: CURSOR,
  }),
  run: (client, { status, limit = DEFAULT_LISTED, ...filters }) =>
    completePage(limit, async (size) => {
      const query = { ...filters, status: status?.join(','), limit: String(size) };
      const { items, next, unreadable } = await client.get('/v1/runs', { query });
      const lines = items.map(
        (run) => `${run.id} ${run.type} ${run.status}, created ${since(client, run.createdAt)}`,
      );
      return {
        text: [counted(items.length, 'run', next), ...lines].join('\n'),
        data: { items: items.map(shortRun), next, unreadable },
      };
    }),
});

const getRun = read({
  name: 'get_run',
  title: 'Explain a run',
  description:
    'Explains one run: what it is doing, why and since when, where the code of its flows is, what would move it on, with its steps, open waits, effects and newest events. Role viewer.',
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
    const lines = [
      `${run.type} v${run.planVersion} ${run.status}: ${text}`,
      from && `since ${from}`,
      until && `until ${until}`,
      help,
      ...code.map(({ step, state, location }) => `${step} (${state}) was asked for at ${location}`),
      run.error && `error: ${run.error.code} ${run.error.message}`,
      run.finding && `finding: ${run.finding.title}. ${run.finding.help}`,
    ];
    return {
      text: lines.filter(Boolean).join('\n'),
      data: {
        explanation: { text, since: from, until, help, code },
        run: wholeRun(run),
        steps: steps.items,
        effects: effects.items,
        newestEvents: newest.map(({ seq, type, at, initiator, actor, data }) => ({
          seq,
          type,
          at,
          initiator,
          actor,
          data,
        })),
        more: { steps: steps.more, effects: effects.more },
      },
    };
  },
});

const listQuestions = read({
  name: 'list_questions',
  title: 'List open questions',
  description:
    'Lists what waits for a person, those of the longest-waiting run first: approvals, steps and effects in doubt, each with the answers it takes; effects without a run (external), whose owner takes the place of the run id in resolve_effect; and runs that make no progress until an operator acts. Role viewer.',
  input: z.strictObject({ limit: LIMIT.describe('How many runs, each with its questions.'), cursor: CURSOR }),
  run: (client, { limit = DEFAULT_LISTED, cursor }) =>
    completePage(limit, async (size) => {
      const query = { limit: String(size), cursor };
      const { items, next, findings, external, unreadable } = await client.get('/v1/inbox', { query });
      const lines = items.map(
        ({ runId, step, question, answers }) => `${runId} ${step}: ${question} (${answers.join(', ')})`,
      );
      const outside = (external ?? []).map(
        ({ owner, effectId, question }) => `${owner} ${effectId}: ${question}`,
      );
      return {
        text: [counted(items.length + outside.length, 'open question', next), ...lines, ...outside].join(
          '\n',
        ),
        data: { items, next, findings, external, unreadable },
      };
    }),
});

const listWorkflows = read({
  name: 'list_workflows',
  title: 'List workflows',
  description: 'Lists the workflows of the installation, their versions and live runs. Role viewer.',
  input: z.strictObject({}),
  async run(client) {
    const { items, killSwitch } = await client.get('/v1/workflows');
    const lines = items.map(
      ({ type, newest, paused }) =>
        `${type}${newest === null ? ' (not deployed)' : ` v${newest}`}${paused ? ', paused' : ''}`,
    );
    return {
      text: [
        killSwitch ? 'The kill switch is on: no run moves.' : `${items.length} workflows`,
        ...lines,
      ].join('\n'),
      data: {
        killSwitch,
        items: items.map(({ type, newest, paused, versions }) => ({
          type,
          newest,
          paused,
          versions: versions.map(({ planVersion, deployed, liveRuns }) => ({
            planVersion,
            deployed,
            liveRuns,
          })),
        })),
      },
    };
  },
});

const getWorkflowInput = read({
  name: 'get_workflow_input',
  title: 'Read the input schema of a workflow',
  description: 'Returns the JSON Schema of the input of the newest version of a workflow. Role viewer.',
  input: z.strictObject({ type: z.string().min(1).max(200) }),
  async run(client, { type }) {
    const input = await client.get('/v1/workflows/{type}/input', { params: { type } });
    return { text: `Input of ${type} v${input.planVersion}`, data: { ...input } };
  },
});

export const READS: readonly Tool[] = [listQuestions, listRuns, getRun, listWorkflows, getWorkflowInput];

/** A smaller page where the one asked for does not fit: `next` is behind its last item, so that nobody would see those that are cut. */
async function completePage(
  limit: number,
  read: (size: number) => Promise<ToolResponse>,
): Promise<ToolResponse> {
  for (let size = limit; ; size >>= 1) {
    const page = await read(size);
    if (size === 1 || (page.text.length <= MAX_SAID_CHARS && isComplete(page.data))) return page;
  }
}

function shortRun(run: Answer<'RunSummary'>) {
  const { id, type, planVersion, status, stopKind, waitsFor, currentStep, blocked, error, threadId, tags } =
    run;
  const { supersededBy, createdAt, updatedAt, completedAt } = run;
  const failure = error && { code: error.code, message: error.message, stepId: error.stepId };
  const what = { id, type, planVersion, status, stopKind, waitsFor, currentStep, blocked, error: failure };
  return { ...what, threadId, tags, supersededBy, createdAt, updatedAt, completedAt };
}

/** Without the books that the engine keeps. */
function wholeRun(run: Answer<'Run'>) {
  const { waits, running, steps, parent, source, suspension, cancellation, decisions, feedback } = run;
  const { input, inputRef, result, resultRef, error, finding, blocked, parked, head } = run;
  return {
    ...shortRun(run),
    ...{
      steps,
      running,
      waits,
      blocked,
      parked,
      suspension,
      cancellation,
      decisions,
      feedback,
      parent,
      source,
    },
    ...{ error, finding, input, inputRef, result, resultRef, head },
  };
}

function since(client: CairnClient, time: string): string {
  return ago(time, client.now());
}

function counted(count: number, noun: string, next: string | undefined): string {
  const more = next === undefined ? '' : '; more with cursor';
  return `${count} ${noun}${count === 1 ? '' : 's'}${more}`;
}
