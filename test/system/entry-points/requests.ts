/** The request of each entry point that starts a run. It can be sent to several instances, with the same bytes. */
import { MAX_PAYLOAD_BYTES } from '../../../packages/cairn/src/core/run/limits.ts';
import { OutcomeUnknown } from '../../../packages/cairn/src/ports/store-errors.ts';
import { githubWebhook } from '../../../packages/cairn/src/triggers/github/webhook.ts';
import { takeMessage } from '../../../packages/cairn/src/triggers/pubsub/take-message.ts';
import { tick } from '../../../packages/cairn/src/triggers/schedule/tick.ts';
import { slackWebhook } from '../../../packages/cairn/src/triggers/slack/webhook.ts';
import { deliveryRequest } from '../../api/installation.ts';
import { stored } from '../../operations/schedules/scene.ts';
import { delivered } from '../../triggers/pubsub/endpoint.ts';
import { commandForm, slackRequest } from '../../triggers/slack/endpoint.ts';
import { type Instance, type Instances, TENANT, TOPIC } from './instances.ts';

export interface Reply {
  /** Status or kind of the response; absent if the entry point gives none. */
  readonly status?: number | string;
  readonly runId?: string;
}

export interface EntryPoint {
  readonly name: string;
  /** Called once in each installation, before the first request. */
  readonly prepare?: (instances: Instances) => Promise<void>;
  readonly send: (instances: Instances, instance: Instance) => Promise<Reply>;
  /** Status of the request that starts the run, and of each later one. */
  readonly made?: number | string;
  readonly again?: number | string;
}

/** Too large for a checkpoint: it is stored before the commit that refers to it. */
const LARGE = 'x'.repeat(MAX_PAYLOAD_BYTES / 64);

async function replyOf(answer: Response): Promise<Reply> {
  const body = (await answer.json()) as { runId?: string; text?: string };
  const runId = body.runId ?? /run `(\w+)`/.exec(body.text ?? '')?.[1];
  return { status: answer.status, ...(runId === undefined ? {} : { runId }) };
}

function post(key: string, body: unknown): RequestInit {
  return {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': 'the-same',
    },
  };
}

function apiStart(input: unknown): EntryPoint['send'] {
  return async ({ key }, { api }) =>
    replyOf(await api.request('/v1/runs', post(key, { type: 'counted', input })));
}

const PULL_REQUEST = JSON.stringify({ action: 'opened', number: 7, repository: { full_name: 'acme/shop' } });

function delivery(id: string): EntryPoint['send'] {
  return async (_instances, { github }) =>
    replyOf(await githubWebhook(github, deliveryRequest({ id, body: PULL_REQUEST })));
}

const SCHEDULE = stored({ tenantId: TENANT, type: 'counted' });
const MINUTE_MS = 60_000;

export const ENTRY_POINTS: readonly EntryPoint[] = [
  { name: 'an API call', send: apiStart({ text: 'hello' }), made: 201, again: 200 },
  { name: 'an API call with a large input', send: apiStart({ text: LARGE }), made: 201, again: 200 },
  { name: 'a GitHub delivery', send: delivery('one'), made: 202, again: 200 },
  {
    name: 'a slash command',
    send: async (instances, { slack }) => {
      const now = instances.world.clock.now();
      return replyOf(await slackWebhook(slack, slackRequest({ now, form: commandForm() })));
    },
    made: 200,
    again: 200,
  },
  {
    name: 'a message of a topic',
    send: async (_instances, { pubsub }) => {
      const { kind: status, ...taken } = await takeMessage(pubsub, TOPIC, delivered({ data: { n: 1 } }));
      return { status, ...('runId' in taken ? { runId: taken.runId } : {}) };
    },
    made: 'started',
    again: 'repeated',
  },
  {
    name: 'a tick of the scheduler',
    prepare: async ({ world }) => {
      await world.schedules.create(SCHEDULE);
      world.clock.jump((SCHEDULE.nextAt ?? 0) - world.clock.now());
    },
    send: async (_instances, { schedules }) => {
      // A tick whose outcome is unknown fails. The scheduler ticks again after a minute.
      await tick(schedules).catch((error: unknown) => {
        if (!(error instanceof OutcomeUnknown)) throw error;
      });
      return {};
    },
  },
  {
    name: 'a schedule triggered by hand',
    prepare: async ({ world }) => {
      await world.schedules.create(SCHEDULE);
      world.clock.jump(MINUTE_MS);
    },
    send: async ({ key }, { api }) =>
      replyOf(await api.request(`/v1/schedules/${SCHEDULE.id}/trigger`, post(key, {}))),
    made: 201,
    again: 201,
  },
];
