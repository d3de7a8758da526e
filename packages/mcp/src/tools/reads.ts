/** Tools that only read. Each makes a bounded number of requests and shows a bounded number of items. */
import { ago, type CairnClient, explainStop } from '@cairn/client';
import { z } from 'zod';
import { CURSOR, DEFAULT_LISTED, LIMIT } from './arguments.ts';
import { completePage, counted } from './pages.ts';
import { getRun } from './run/get-run.ts';
import { listRunItems } from './run/list-run-items.ts';
import { readValue } from './run/read-value.ts';
import { shortRun } from './run/shown-run.ts';
import { read, type Tool } from './tool.ts';

/** The longest name of a tag, a colon, the longest value. */
const MAX_TAG_CHARS = 251;
/** More than the API accepts, so that its own error message explains the limit. */
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
      const query = { ...filters, status: status?.join(','), limit: size };
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

const listQuestions = read({
  name: 'list_questions',
  title: 'List open questions',
  description:
    'Lists what waits for a person, those of the longest-waiting run first: approvals, steps and effects in doubt, each with the answers it takes; effects without a run (external), whose owner takes the place of the run id in resolve_effect; and runs that make no progress until an operator acts. Role viewer.',
  input: z.strictObject({ limit: LIMIT.describe('How many runs, each with its questions.'), cursor: CURSOR }),
  run: (client, { limit = DEFAULT_LISTED, cursor }) =>
    completePage(limit, async (size) => {
      const query = { limit: size, cursor };
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
  description: 'Lists the workflows of the installation by type, their versions and live runs. Role viewer.',
  input: z.strictObject({ limit: LIMIT, cursor: CURSOR }),
  async run(client, { limit = DEFAULT_LISTED, cursor = '' }) {
    const { items, killSwitch, restored } = await client.get('/v1/workflows');
    const rest = items.filter(({ type }) => type > cursor).toSorted((a, b) => (a.type < b.type ? -1 : 1));
    return completePage(limit, async (size) => {
      const page = rest.slice(0, size);
      const next = page.length < rest.length ? page.at(-1)?.type : undefined;
      const lines = page.map(
        ({ type, newest, paused }) =>
          `${type}${newest === null ? ' (not deployed)' : ` v${newest}`}${paused ? ', paused' : ''}`,
      );
      return {
        text: [
          killSwitch && explainStop({ by: 'kill_switch' }).text,
          restored && explainStop({ by: 'restored' }).text,
          counted(page.length, 'workflow', next),
          ...lines,
        ]
          .filter(Boolean)
          .join('\n'),
        data: {
          killSwitch,
          restored,
          items: page.map(({ type, newest, paused, versions }) => ({
            type,
            newest,
            paused,
            versions: versions.map(({ planVersion, deployed, liveRuns }) => ({
              planVersion,
              deployed,
              liveRuns,
            })),
          })),
          next,
        },
      };
    });
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

export const READS: readonly Tool[] = [
  listQuestions,
  listRuns,
  getRun,
  listRunItems,
  readValue,
  listWorkflows,
  getWorkflowInput,
];

function since(client: CairnClient, time: string): string {
  return ago(time, client.now());
}
