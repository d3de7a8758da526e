/** Starts a run of the newest version of a workflow. */
import { explainStop } from '@cairn/client';
import { fromJsonSchema, type JsonSchemaType } from '@modelcontextprotocol/server';
import type { Answer } from 'cairn/api/calls';
import { z } from 'zod';
import { act, type Blocker } from '../act.ts';

type WorkflowList = Answer<'WorkflowList'>;

export const startRun = act({
  name: 'start_run',
  title: 'Start a run',
  description: 'Starts a run of the newest version of a workflow. Role submitter.',
  args: z.strictObject({
    type: z.string().min(1).max(200).describe('Type of the workflow, as list_workflows has it.'),
    input: z.unknown().optional().describe('Input; get_workflow_input has its schema. Default {}.'),
    threadId: z.string().min(1).max(255).optional().describe('Thread of the run.'),
  }),
  isDestructive: false,
  async preview(client, { type, input = {} }) {
    const params = { type };
    // Throws NOT_FOUND for an unknown workflow.
    const [{ planVersion, schema }, list] = await Promise.all([
      client.get('/v1/workflows/{type}/input', { params }),
      client.get('/v1/workflows'),
    ]);
    const workflow = list.items.find((one) => one.type === type);
    const steps = workflow?.versions.find((version) => version.planVersion === planVersion)?.steps;
    const stop = stopOf(list, workflow);
    const problems = await problemsOf(input, schema);
    return {
      text: [
        `Would start ${type} v${planVersion}${steps ? ` with ${steps.length} steps` : ''}.`,
        stop && explainStop(stop).text,
      ]
        .filter(Boolean)
        .join(' '),
      data: {
        type,
        planVersion,
        input,
        steps,
        killSwitch: list.killSwitch,
        restored: list.restored,
        paused: workflow?.paused ?? null,
      },
      state: { planVersion, stoppedBy: stop?.by ?? null },
      blockers: problems,
    };
  },
  async carryOut(client, { args: { type, input = {}, threadId }, idempotencyKey }) {
    const started = await client.change('POST', '/v1/runs', {
      body: { type, input, threadId },
      idempotencyKey,
    });
    return {
      text: `Started ${started.runId} (${started.type} v${started.planVersion}).`,
      data: { ...started },
    };
  },
});

/** Reason why the run would not start now; undefined if there is none. The kill switch comes first, as in the API. */
function stopOf({ killSwitch, restored }: WorkflowList, workflow?: WorkflowList['items'][number]) {
  if (killSwitch) return { by: 'kill_switch' } as const;
  if (restored) return { by: 'restored' } as const;
  return workflow?.paused && ({ by: 'paused', type: workflow.type, ...workflow.paused } as const);
}

/**
 * The schema may accept input that the workflow refuses at the start, never the reverse. The validator names a place as
 * `data/items/0 must be …`.
 */
async function problemsOf(input: unknown, schema: unknown): Promise<Blocker[]> {
  if (typeof schema !== 'object' || schema === null) return [];
  const checked = await fromJsonSchema(schema as JsonSchemaType)['~standard'].validate(input);
  const messages = (checked.issues ?? []).flatMap(({ message }) => message.split(BETWEEN_PROBLEMS));
  return messages.slice(0, MAX_PROBLEMS).map((message) => {
    const [, place = '', problem = message] = /^data(\S*) (.*)$/s.exec(message) ?? [];
    return {
      code: 'INVALID_INPUT',
      detail: problem,
      field: `input${place.replaceAll('/', '.')}`,
      help: 'Read the schema with get_workflow_input.',
    };
  });
}

const MAX_PROBLEMS = 10;
/** The validator joins all problems in one message. */
const BETWEEN_PROBLEMS = /, (?=data(?:\/\S*)? must )/;
