/** The Pub/Sub function of an installation in memory, and messages in the form that it receives. */
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import type { Log } from '../../../packages/cairn/src/ports/log.ts';
import { type PubsubDeps, takeMessage } from '../../../packages/cairn/src/triggers/pubsub/take-message.ts';
import { World } from '../../support/world.ts';

export interface Sent {
  readonly messageId?: string;
  readonly data?: unknown;
  /** Text of the message in base64, in place of `data`. */
  readonly raw?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly subscription?: string;
}

export class PubsubEndpoint {
  readonly world: World;
  readonly deps: PubsubDeps;
  readonly errors: string[] = [];

  constructor(workflows: readonly Workflow[]) {
    this.world = new World({ workflows });
    const { deps, records, mailboxes } = this.world;
    const log: Log = { debug() {}, info() {}, warn() {}, error: (event) => this.errors.push(event) };
    this.deps = { ...deps, records, log, mailboxes, environment: 'test', tenantId: 't1' };
  }

  take(topic: string, sent: Sent, deps: Partial<PubsubDeps> = {}) {
    return takeMessage({ ...this.deps, ...deps }, topic, delivered(sent));
  }

  /** Documents, journals and tasks, which a refused message must not change. */
  written(): number {
    const { db, queue } = this.world;
    const events = [...db.runs.values()].reduce((sum, run) => sum + run.events.length, 0);
    return db.runs.size + events + db.records.size + db.mailboxes.size + queue.pending.length;
  }
}

export function delivered({
  messageId = '1',
  data,
  raw,
  attributes = {},
  subscription = 'eventarc-x',
}: Sent) {
  const text = data === undefined ? '' : JSON.stringify(data);
  return {
    subscription: `projects/demo-cairn/subscriptions/${subscription}`,
    message: {
      messageId,
      data: raw ?? Buffer.from(text).toString('base64'),
      attributes,
      publishTime: '2026-11-22T05:00:00Z',
      orderingKey: '',
    },
  };
}
