/** The Slack endpoint of an installation in memory, and requests as Slack sends them. */
import { createHmac } from 'node:crypto';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import type { Log } from '../../../packages/cairn/src/ports/log.ts';
import type { SlackDeps } from '../../../packages/cairn/src/triggers/slack/deps.ts';
import { slackWebhook } from '../../../packages/cairn/src/triggers/slack/webhook.ts';
import { World } from '../../support/world.ts';

export const SLACK_SECRET = 'a secret that Slack knows as well';

export interface Line {
  readonly level: string;
  readonly event: string;
  readonly fields: unknown;
}

export class SlackEndpoint {
  readonly world: World;
  readonly deps: SlackDeps;
  readonly lines: Line[] = [];

  constructor(workflows: readonly Workflow[], world = new World({ workflows })) {
    this.world = world;
    const note = (level: string) => (event: string, fields?: unknown) => {
      this.lines.push({ level, event, fields });
    };
    const log: Log = { debug() {}, info() {}, warn: note('warn'), error: note('error') };
    this.deps = {
      ...world.deps,
      records: world.records,
      log,
      environment: 'test',
      secrets: () => [SLACK_SECRET],
      tenants: () => new Map([['T1', 't1']]),
    };
  }

  post(options: Partial<SlackRequestOptions>, deps: Partial<SlackDeps> = {}): Promise<Response> {
    const request = slackRequest({ now: this.world.clock.now(), ...options });
    return slackWebhook({ ...this.deps, ...deps }, request);
  }

  /** The text shown after a command. */
  async type(fields: Readonly<Record<string, string>>): Promise<string> {
    return (await this.say({ form: commandForm(fields) })).text;
  }

  /** Texts shown after pressing a button. */
  press(value: unknown, more: object = {}): Promise<Told> {
    return this.say({ form: { payload: JSON.stringify(pressOf(value, more)) } });
  }

  async say(options: Partial<SlackRequestOptions>): Promise<Told> {
    const answer = await this.post(options);
    if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Told;
  }

  /** Documents, journals and tasks, which a refused request must not change. */
  written(): number {
    const { db, queue } = this.world;
    const events = [...db.runs.values()].reduce((sum, { snapshot }) => sum + snapshot.head, 0);
    return db.runs.size + db.records.size + queue.pending.length + events;
  }
}

export interface Told {
  readonly response_type: string;
  readonly replace_original: boolean;
  readonly text: string;
}

export interface SlackRequestOptions {
  readonly form: Readonly<Record<string, string>>;
  /** Replaces the form. */
  readonly body: string | Uint8Array;
  /** Time of the signature, epoch ms. */
  readonly now: number;
  readonly secret: string;
  readonly method: string;
  readonly path: string;
  /** Replaces headers of the request; undefined removes one. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** A request as Slack sends it, with the given changes. */
export function slackRequest(options: Partial<SlackRequestOptions>): Request {
  const { form = commandForm(), now = 0, secret = SLACK_SECRET, method = 'POST' } = options;
  const body = Buffer.from(options.body ?? new URLSearchParams(form).toString());
  const timestamp = String(Math.floor(now / 1_000));
  const headers: Record<string, string | undefined> = {
    'content-type': 'application/x-www-form-urlencoded',
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': sign(body, timestamp, secret),
    ...options.headers,
  };
  const present = Object.entries(headers).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return new Request(`http://cairn.test${options.path ?? '/webhooks/slack'}`, {
    method,
    headers: present,
    ...(method === 'GET' ? {} : { body: new Uint8Array(body) }),
  });
}

export function sign(body: string | Uint8Array, timestamp: string, secret = SLACK_SECRET): string {
  return `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest('hex')}`;
}

/** The form of a slash command. An empty value removes the field, except for `text`. */
export function commandForm(fields: Readonly<Record<string, string>> = {}): Record<string, string> {
  const form = {
    token: 'deprecated',
    team_id: 'T1',
    team_domain: 'acme',
    channel_id: 'C1',
    channel_name: 'releases',
    user_id: 'U1',
    user_name: 'ada',
    command: '/deploy',
    text: 'shop 1.1.0',
    api_app_id: 'A1',
    is_enterprise_install: 'false',
    response_url: 'https://hooks.slack.com/commands/T1/1/abc',
    trigger_id: '1.2.3',
    ...fields,
  };
  return Object.fromEntries(Object.entries(form).filter(([name, value]) => name === 'text' || value !== ''));
}

/** The payload of a pressed button. @param value of the button: an object is written as JSON */
export function pressOf(value: unknown, more: object = {}): object {
  return {
    type: 'block_actions',
    user: { id: 'U1', username: 'ada', name: 'ada', team_id: 'T1' },
    api_app_id: 'A1',
    token: 'deprecated',
    container: { type: 'message', message_ts: '1', channel_id: 'C1' },
    trigger_id: '1.2.3',
    team: { id: 'T1', domain: 'acme' },
    enterprise: null,
    channel: { id: 'C1', name: 'releases' },
    response_url: 'https://hooks.slack.com/actions/T1/1/abc',
    actions: [actionOf(value)],
    ...more,
  };
}

export function actionOf(value: unknown, actionId = 'cairn.decide.approve'): object {
  return {
    type: 'button',
    action_id: actionId,
    block_id: 'b',
    text: { type: 'plain_text', text: 'Approve' },
    value: typeof value === 'string' ? value : JSON.stringify(value),
    action_ts: '1',
  };
}
