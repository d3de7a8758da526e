/** `workflows`, `pause`, `unpause`: deployed workflows and the switches that stop them. */
import { exampleOf } from '@cairn/client';
import type { Answer } from 'cairn/api/calls';
import { command } from '../../arguments/command.ts';
import type { CommandContext } from '../../context.ts';
import { Declined, EXIT, UsageError } from '../../exit.ts';
import { table } from '../../render/table.ts';
import { moment } from '../../render/time.ts';
import { clean } from '../../render/width.ts';
import { aboutType, isMissing, nearType } from '../did-you-mean.ts';

export const listWorkflows = command({
  name: 'workflows',
  summary: 'List workflows and their versions, with the live runs of the tenant',
  examples: [['workflows', 'keep versions with live runs deployed']],
  async run({ api, out, notes }) {
    const list = await api.get('/v1/workflows');
    const rows = list.items.flatMap((workflow) =>
      workflow.versions.map((version) => ({ workflow, version })),
    );
    out.answer(list, (shape) =>
      table(
        rows,
        [
          { title: 'WORKFLOW', of: ({ workflow }) => workflow.type, least: 12 },
          { title: 'VERSION', of: ({ version }) => `v${version.planVersion}`, align: 'right' },
          {
            title: 'DEPLOYED',
            of: ({ version }) => (version.deployed ? 'yes' : 'no'),
            tone: ({ version }) => (version.deployed ? 'good' : 'bad'),
          },
          { title: 'LIVE RUNS', of: ({ version }) => String(version.liveRuns), align: 'right' },
          {
            title: 'STEPS',
            of: ({ version }) => String(version.steps?.length ?? ''),
            align: 'right',
            dropOrder: 2,
          },
          {
            title: 'PAUSED',
            of: ({ workflow }) => pausedText(workflow),
            tone: () => 'warn',
            dropOrder: 1,
            least: 10,
          },
        ],
        shape,
      ),
    );
    if (list.killSwitch && !out.json)
      notes.print(notes.style.paint('bad', `The kill switch is on: ${notes.call} unpause --everything\n`));
  },
});

export const readWorkflowInput = command({
  name: 'workflows input',
  summary: 'Print the input schema of a workflow, as JSON Schema, or an example input',
  args: { type: { help: "type of the workflow, one that 'workflows' lists" } },
  options: { example: { type: 'flag', help: 'print an input that the schema accepts' } },
  examples: [
    ['workflows input deploy', 'before cairn runs start deploy'],
    [
      'workflows input deploy --example > input.json',
      'to edit, for cairn runs start deploy --input @input.json',
    ],
  ],
  async run({ api, out }, { args: { type }, options: { example } }) {
    const input = await api.get('/v1/workflows/{type}/input', { params: { type } }).catch(async (error) => {
      const near = isMissing(error) && (await nearType(api, type));
      if (!near) throw error;
      throw new Declined(`there is no workflow '${type}'`, `Did you mean '${near}'?`, EXIT.notFound);
    });
    if (input.schema === undefined && !out.json)
      throw new Declined(
        `the input schema of ${type} cannot be shown as JSON Schema`,
        'Start a run: an input that does not fit is refused with what is wrong.',
      );
    if (!example) return void out.answer(input, () => `${JSON.stringify(input.schema, null, 2)}\n`);
    const made = exampleOf(input.schema);
    if (made === undefined)
      throw new Declined(
        `no example of an input of ${type} can be made`,
        'Print its schema, without --example.',
      );
    out.answer(made, () => `${JSON.stringify(made, null, 2)}\n`);
  },
});

function pausedText({ paused }: Answer<'WorkflowList'>['items'][number]): string {
  return paused === null ? '' : [`since ${moment(paused.since)}`, paused.reason].filter(Boolean).join(': ');
}

const TYPE = { help: 'the workflow', optional: true } as const;
const EVERYTHING = {
  everything: { type: 'flag', help: 'all workflows of every tenant (the kill switch)' },
} as const;

export const pause = command({
  name: 'pause',
  summary: 'Pause a workflow for every tenant',
  details: 'Starts, answers and events are accepted and wait. Running steps finish.',
  args: { type: TYPE },
  options: { ...EVERYTHING, reason: { type: 'text', value: 'TEXT', help: 'reason' } },
  mutates: true,
  examples: [
    ['pause review-pull-request --reason "labels are wrong"', 'one workflow'],
    ['pause --everything', 'the kill switch'],
  ],
  async run(context, { args, options }) {
    const { api, out } = context;
    const type = targetOf(args.type, options.everything);
    if (type === undefined) return setKillSwitch(context, true);
    const body = { reason: options.reason };
    const request = api.change('POST', '/v1/workflows/{type}/pause', { params: { type }, body });
    const answer = await aboutType(api, type, request);
    out.answer(
      answer,
      () => `${type} is paused since ${moment(answer.paused.since)} by ${clean(answer.paused.by)}\n`,
    );
  },
});

export const unpause = command({
  name: 'unpause',
  summary: 'Unpause a workflow',
  args: { type: TYPE },
  options: EVERYTHING,
  mutates: true,
  examples: [
    ['unpause review-pull-request', 'its runs continue at once'],
    ['unpause --everything', 'workflows paused individually stay paused'],
  ],
  async run(context, { args, options }) {
    const { api, out } = context;
    const type = targetOf(args.type, options.everything);
    if (type === undefined) return setKillSwitch(context, false);
    const request = api.change('POST', '/v1/workflows/{type}/unpause', { params: { type } });
    const answer = await aboutType(api, type, request);
    out.answer(answer, () => `${type} unpaused, ${answer.woken} runs woken\n`);
  },
});

/** Undefined means everything, which needs `--everything`. */
function targetOf(type: string | undefined, everything: boolean): string | undefined {
  if ((type === undefined) === everything) return type;
  throw type === undefined
    ? new UsageError('name a workflow, or give --everything')
    : new UsageError('a workflow or --everything, not both');
}

async function setKillSwitch({ api, out }: CommandContext, killSwitch: boolean): Promise<undefined> {
  const answer = await api.change('PUT', '/v1/runtime', { body: { killSwitch } });
  out.answer(answer, () =>
    answer.killSwitch ? 'kill switch on\n' : `kill switch off, ${answer.woken} runs woken\n`,
  );
}
