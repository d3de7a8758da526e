/** Every source of runs as one that knocks at an instance, and again with the very same when it was not answered. */
import { MAX_PAYLOAD_BYTES } from '../../../packages/cairn/src/core/run/limits.ts';
import { OutcomeUnknown } from '../../../packages/cairn/src/ports/store-errors.ts';
import { githubWebhook } from '../../../packages/cairn/src/triggers/github/webhook.ts';
import { takeMessage } from '../../../packages/cairn/src/triggers/pubsub/take-message.ts';
import { tick } from '../../../packages/cairn/src/triggers/schedule/tick.ts';
import { slackWebhook } from '../../../packages/cairn/src/triggers/slack/webhook.ts';
import { deliveryRequest } from '../../api/installation.ts';
import { stored } from '../../operations/schedules/scene.ts';
import { delivered } from '../../triggers/pubsub/message-door.ts';
import { commandForm, slackRequest } from '../../triggers/slack/door.ts';
import { type Doors, type Instance, TENANT, TOPIC } from './instance.ts';

export interface Told {
  /** Status or kind of the response; absent: the source gets none. */
  readonly status?: number | string;
  readonly runId?: string;
}

export interface Knocking {
  readonly name: string;
  /** Made once in each installation, before anybody knocks. */
  readonly prepare?: (doors: Doors) => Promise<void>;
  readonly knock: (doors: Doors, instance: Instance) => Promise<Told>;
  /** Statuses: of the request that made the run, and of every later one. */
  readonly made?: number | string;
  readonly again?: number | string;
}

/** Above what a checkpoint holds: it is written before the commit that refers to it. */
const LARGE = 'x'.repeat(MAX_PAYLOAD_BYTES / 64);

async function told(answer: Response): Promise<Told> {
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

function apiStart(input: unknown): Knocking['knock'] {
  return async ({ key }, { api }) =>
    told(await api.request('/v1/runs', post(key, { type: 'counted', input })));
}

const PULL_REQUEST = JSON.stringify({ action: 'opened', number: 7, repository: { full_name: 'acme/shop' } });

function delivery(id: string): Knocking['knock'] {
  return async (_doors, { github }) =>
    told(await githubWebhook(github, deliveryRequest({ id, body: PULL_REQUEST })));
}

const SCHEDULE = stored({ tenantId: TENANT, type: 'counted' });
const MINUTE_MS = 60_000;

export const KNOCKS: readonly Knocking[] = [
  { name: 'an API call', knock: apiStart({ text: 'hello' }), made: 201, again: 200 },
  { name: 'an API call with a large input', knock: apiStart({ text: LARGE }), made: 201, again: 200 },
  { name: 'a GitHub delivery', knock: delivery('one'), made: 202, again: 200 },
  {
    name: 'a slash command',
    knock: async (doors, { slack }) => {
      const now = doors.world.clock.now();
      return told(await slackWebhook(slack, slackRequest({ now, form: commandForm() })));
    },
    made: 200,
    again: 200,
  },
  {
    name: 'a message of a topic',
    knock: async (_doors, { pubsub }) => {
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
    knock: async (_doors, { schedules }) => {
      // A tick that found nothing out has failed; the next minute comes by itself.
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
    knock: async ({ key }, { api }) =>
      told(await api.request(`/v1/schedules/${SCHEDULE.id}/trigger`, post(key, {}))),
    made: 201,
    again: 201,
  },
];
