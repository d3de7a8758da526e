/**
 * Calls functions of the first generation (`firebase-functions/v1`) for schedules and Pub/Sub messages. Unlike later functions, they take
 * the data of an event and its context instead of a request or a CloudEvent, and do not respond.
 */
import type { FunctionHandler } from './function-spec.ts';
import { acknowledging, type PushResponse } from './pubsub/message-handler.ts';

type Call = (data: object, context: object) => unknown;

/** Event type of messages and schedules of the first generation. */
export const PUBLISHED = 'google.pubsub.topic.publish';
const SERVICE = 'pubsub.googleapis.com';
const MESSAGE = 'type.googleapis.com/google.pubsub.v1.PubsubMessage';

/** @param topic full name, with its project */
export function firstMessageHandler(call: Call, topic: string): FunctionHandler {
  return acknowledging(({ message }) => {
    const { messageId, publishTime, data, attributes = {} } = message ?? {};
    return call(
      { '@type': MESSAGE, data, attributes },
      contextOf({ eventId: messageId, timestamp: publishTime, name: topic }),
    );
  });
}

/** Answers 204 when the function has ended. */
export function firstScheduleHandler(call: Call): FunctionHandler {
  return async (request, response) => {
    const { headers } = request as { readonly headers: Readonly<Record<string, string | undefined>> };
    const name = headers['x-cloudscheduler-jobname'];
    const timestamp = headers['x-cloudscheduler-scheduletime'];
    await call({}, contextOf({ eventId: `${name}-${timestamp}`, timestamp, name }));
    (response as PushResponse).status(204).end();
  };
}

interface EventSource {
  readonly eventId: string | undefined;
  /** RFC 3339. */
  readonly timestamp: string | undefined;
  /** Name of the topic or the job. */
  readonly name: string | undefined;
}

function contextOf({ eventId, timestamp, name }: EventSource): object {
  return {
    eventId,
    timestamp,
    eventType: PUBLISHED,
    resource: { service: SERVICE, name, type: MESSAGE },
  };
}

/** Short name of the topic that an endpoint of the first generation names. */
export function firstTopicIn(resource: unknown): string | undefined {
  return /^projects\/[^/]+\/topics\/(.+)$/.exec(String(resource))?.[1];
}
