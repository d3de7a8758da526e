/**
 * The sources of runs, over HTTP against a local cloud. Each can send the same request repeatedly, and has the expected
 * statuses.
 *
 * Must not: check how many runs were started.
 */
import type { Ready } from '../../../packages/local/src/cloud-process.ts';
import { deliver, openedPullRequest } from '../../../scripts/demo/delivery.ts';
import { commandForm, slackRequest } from '../../triggers/slack/endpoint.ts';
import { send } from '../requests.ts';

export interface Answered {
  readonly status: number;
  /** Absent if the response does not name a run yet. */
  readonly runId?: string | undefined;
  /** True if the response reports a repetition; absent if the source never reports it. */
  readonly replayed?: boolean | undefined;
}

export interface Source {
  readonly name: string;
  /** Query of the list of runs that finds those of the source. */
  readonly query: string;
  /** The state in which its runs end. */
  readonly rest: 'completed' | 'awaiting_approval';
  /** Sends the request of this key. Only dates and signatures differ between repetitions. */
  readonly send: (ready: Ready, key: string) => Promise<Answered>;
  /** Status of the response that started the run, and of each other one that names it. */
  readonly made: number;
  readonly again: number;
  /** Status while another request is working on the same key; absent if the source has none. */
  readonly early?: number;
}

/** A source whose request is one commit. */
export interface Starting extends Source {
  /** Prefix of its idempotency records in Firestore. */
  readonly records: string;
}

/** The Slack team that the local cloud connects to its tenant. */
const TEAM = 'TLOCAL';
/** Thread id of the runs that are started through the API. */
const THREAD = 'entry-points';
const JSON_TYPE = { 'content-type': 'application/json' };

export const api: Starting = {
  name: 'the API',
  query: `threadId=${THREAD}`,
  rest: 'completed',
  made: 201,
  again: 200,
  records: 'gwi_idempotency/api:',
  async send(ready, key) {
    const { gateway, apiKey } = ready;
    const headers = { authorization: `Bearer ${apiKey}`, 'idempotency-key': key, ...JSON_TYPE };
    const body = JSON.stringify({ type: 'chain-10', input: {}, threadId: THREAD });
    return answered(await fetch(`${gateway}/v1/runs`, { method: 'POST', headers, body }));
  },
};

/** Read once, because the recordings are megabytes. */
const opened = openedPullRequest();

export const github: Starting = {
  name: 'GitHub',
  query: 'type=review-pull-request',
  rest: 'completed',
  made: 202,
  again: 200,
  records: 'gwi_idempotency/github:',
  async send(ready, key) {
    const payload = JSON.parse(opened.body) as { readonly pull_request: object };
    // Deliveries with the same content within five seconds are one event, so each key has its own title.
    const titled = { ...payload, pull_request: { ...payload.pull_request, title: `Change ${key}` } };
    const answer = await deliver(ready, { ...opened, id: key, body: JSON.stringify(titled) });
    const { status, runId, duplicate = false } = answer;
    return { status, runId, replayed: duplicate };
  },
};

export const slack: Starting = {
  name: 'Slack',
  query: 'type=chatted',
  rest: 'awaiting_approval',
  made: 200,
  again: 200,
  // The text says that the command takes longer.
  early: 200,
  records: 'gwi_idempotency/slack:',
  async send(ready, key) {
    const form = commandForm({ team_id: TEAM, command: '/chat', text: 'go on', trigger_id: key });
    const { headers, method, body } = slackRequest({ form, secret: ready.secrets.slack, now: Date.now() });
    const text = await new Response(body).text();
    const answer = await fetch(`${ready.gateway}/webhooks/slack`, { method, headers, body: text });
    const said = ((await answer.json()) as { text?: string }).text ?? '';
    return { status: answer.status, runId: /^Started `chatted`: run `(\w+)`\.$/.exec(said)?.[1] };
  },
};

/** Sources whose request starts one run. */
export const SOURCES: readonly Starting[] = [api, github, slack];

/** A schedule of the local tenant that fires every hour. */
export async function makeSchedule(ready: Ready): Promise<{ readonly id: string; readonly nextAt: string }> {
  const body = { type: 'chain-10', cron: '0 * * * *', catchUp: 'all' };
  const made = await send(ready, { path: '/v1/schedules', body });
  if (made.status !== 201) throw new Error(`no schedule: ${made.status} ${await made.text()}`);
  return (await made.json()) as { id: string; nextAt: string };
}

/** A schedule that is triggered through the API. */
export async function triggersOf(ready: Ready): Promise<Source> {
  const { id } = await makeSchedule(ready);
  return {
    name: 'a schedule triggered by hand',
    query: `threadId=${id}`,
    rest: 'completed',
    made: 201,
    again: 201,
    // A trigger is more than one commit: meanwhile a repetition is told to try again.
    early: 202,
    async send({ gateway, apiKey }, key) {
      const headers = { authorization: `Bearer ${apiKey}`, 'idempotency-key': `${id}-${key}` };
      return answered(await fetch(`${gateway}/v1/schedules/${id}/trigger`, { method: 'POST', headers }));
    },
  };
}

async function answered(answer: Response): Promise<Answered> {
  const { runId } = (await answer.json()) as { runId?: string };
  return { status: answer.status, runId, replayed: answer.headers.has('idempotency-replayed') };
}
