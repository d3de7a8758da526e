/**
 * Messages to a running agent, received by an event operation beside the others. Recorded results return in journal order, so
 * that after a replay each message arrives before the same turn.
 */
import type { Flow, Json } from 'cairn';
import type { AgentMessage } from './conversation.ts';
import { MESSAGE } from './tool.ts';

const MESSAGE_EVENT = 'agent-message';

export class MessageInbox {
  readonly #flow: Pick<Flow<unknown>, 'event'>;
  readonly #key: string;
  #arrived: AgentMessage[] = [];
  #failure: unknown;

  constructor(flow: Pick<Flow<unknown>, 'event'>, key: string) {
    this.#flow = flow;
    this.#key = key;
    this.#listen();
  }

  get hasMessages(): boolean {
    this.#assertListens();
    return this.#arrived.length > 0;
  }

  take(): AgentMessage[] {
    this.#assertListens();
    const arrived = this.#arrived;
    this.#arrived = [];
    return arrived;
  }

  #listen(): void {
    const next = this.#flow.event<Json>(MESSAGE, { event: MESSAGE_EVENT, key: this.#key });
    next.then(
      (sent) => {
        this.#arrived.push({ role: 'user', text: textOf(sent) });
        this.#listen();
      },
      (error: unknown) => {
        this.#failure = error;
      },
    );
  }

  /** @throws the failure of the wait for the next message, for example for an invalid key */
  #assertListens(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

function textOf(sent: Json): string {
  const text = typeof sent === 'object' && sent !== null && 'text' in sent ? sent.text : sent;
  return typeof text === 'string' ? text : JSON.stringify(text);
}
