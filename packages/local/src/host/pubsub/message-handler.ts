/**
 * Calls a function for Pub/Sub messages as production does, with a CloudEvent made from the push request. When it
 * returns, 204 acknowledges the message; when it throws, 500 causes a redelivery.
 */
import type { FunctionHandler, MessageTrigger } from '../function-spec.ts';

/** The envelope of a push request. */
export interface Push {
  readonly message?: {
    readonly messageId?: string;
    readonly publishTime?: string;
    /** Base64. */
    readonly data?: string;
    readonly attributes?: Readonly<Record<string, string>>;
  };
  readonly subscription?: string;
}

interface PushRequest {
  readonly body?: Push;
}

export interface PushResponse {
  status(code: number): { end(): void; send(body: string): void };
}

export function messageHandler(call: (event: object) => unknown, { topic }: MessageTrigger): FunctionHandler {
  return acknowledging((push) => call(cloudEventOf(push, topic)));
}

/** Answers a push request: with 204 once `take` has returned. */
export function acknowledging(take: (push: Push) => unknown): FunctionHandler {
  return async (request, response) => {
    const push = (request as PushRequest).body ?? {};
    const answer = response as PushResponse;
    if (!push.message) {
      answer.status(400).send('not a push request of Pub/Sub');
      return;
    }
    await take(push);
    answer.status(204).end();
  };
}

/** The event that Eventarc makes of a push request. */
export function cloudEventOf({ message, subscription }: Push, topic: string): object {
  const project = /^projects\/([^/]+)\//.exec(subscription ?? '')?.[1] ?? '';
  return {
    specversion: '1.0',
    id: message?.messageId,
    type: 'google.cloud.pubsub.topic.v1.messagePublished',
    source: `//pubsub.googleapis.com/projects/${project}/topics/${topic}`,
    time: message?.publishTime,
    datacontenttype: 'application/json',
    data: { message, subscription },
  };
}
