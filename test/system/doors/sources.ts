/**
 * The sources of runs as they reach a local cloud over HTTP: each can send the same request any number of times, and
 * says what the answers must be.
 *
 * Must not: judge how many runs came of it.
 */
import type { Ready } from '../../../local/cloud-process.ts';
import { deliver, openedPullRequest } from '../../../local/demo/delivery.ts';
import { commandForm, slackRequest } from '../../triggers/slack/door.ts';
import { startRun } from '../support.ts';

export interface Answered {
  readonly status: number;
  readonly runId?: string | undefined;
}

export interface Source {
  readonly name: string;
  /** Of the runs it starts. */
  readonly type: string;
  /** Where its runs come to rest. */
  readonly rest: 'completed' | 'awaiting_approval';
  /** Sends the request of this key, the same bytes each time but for dates in signatures. */
  readonly send: (ready: Ready, key: string) => Promise<Answered>;
  /** Statuses: of the answer that made the run, and of every other. */
  readonly made: number;
  readonly again: number;
  /** How its idempotency records begin, as a part of their place in Firestore. */
  readonly records: string;
}

/** The team that the local cloud connects. */
const TEAM = 'TLOCAL';

export const api: Source = {
  name: 'the API',
  type: 'chain-10',
  rest: 'completed',
  made: 201,
  again: 200,
  records: 'gwi_idempotency/api:',
  async send(ready, key) {
    const answer = await startRun(ready, 'chain-10', {}, key);
    return { status: answer.status, runId: ((await answer.json()) as { runId?: string }).runId };
  },
};

export const github: Source = {
  name: 'GitHub',
  type: 'review-pull-request',
  rest: 'completed',
  made: 202,
  again: 200,
  records: 'gwi_idempotency/github:',
  async send(ready, key) {
    const { event, body } = openedPullRequest();
    const { pull_request: pullRequest, ...payload } = JSON.parse(body) as { readonly pull_request: object };
    // Another title is another event: what has the same content within five seconds is one, whatever it is called.
    const titled = { ...payload, pull_request: { ...pullRequest, title: `Change ${key}` } };
    const { status, runId } = await deliver(ready, { event, id: key, body: JSON.stringify(titled) });
    return { status, runId };
  },
};

export const slack: Source = {
  name: 'Slack',
  type: 'chatted',
  rest: 'awaiting_approval',
  made: 200,
  again: 200,
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

/** Those whose sender is answered. */
export const SOURCES: readonly Source[] = [api, github, slack];
