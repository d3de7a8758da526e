/** Converts a message to the HTTP request for a push endpoint: in the documented JSON envelope, or unwrapped. Pure. */
import { type DispatchRequest, HOP_BY_HOP, identityToken } from '@cairn/local-tasks/attempt';
import { messageId, type PushConfig } from '../model/resources.ts';
import type { Received } from '../service/feed.ts';

interface Pushed {
  readonly push: PushConfig;
  readonly subscription: string;
  readonly received: Received;
  readonly now: number;
}

export function pushRequest(pushed: Pushed): Omit<DispatchRequest, 'signal'> {
  const { push, now } = pushed;
  const { headers, body } = push.unwrapped
    ? unwrapped(pushed, push.unwrapped.writeMetadata)
    : {
        headers: { 'Content-Type': 'application/json' },
        body: Buffer.from(JSON.stringify(envelope(pushed))),
      };
  return {
    url: push.endpoint,
    method: 'POST',
    headers: {
      ...headers,
      'User-Agent': 'CloudPubSub-Google',
      ...(push.oidc && { Authorization: `Bearer ${identityToken(push.oidc, now)}` }),
    },
    body,
  };
}

/** Has names in both spellings, as in production, because handlers may read either. */
function envelope({ subscription, received: { message, attempt } }: Pushed): object {
  const id = messageId(message.id);
  const publishTime = new Date(message.publishedAt).toISOString();
  return {
    ...(attempt > 0 && { deliveryAttempt: attempt }),
    message: {
      ...(Object.keys(message.attributes).length > 0 && { attributes: message.attributes }),
      ...(message.data.length > 0 && { data: Buffer.from(message.data).toString('base64') }),
      messageId: id,
      message_id: id,
      ...(message.orderingKey !== '' && { orderingKey: message.orderingKey }),
      publishTime,
      publish_time: publishTime,
    },
    subscription,
  };
}

/** Headers that this server or HTTP sets, which attributes cannot replace. */
const RESERVED = /^(?:host|content-length|user-agent|authorization|x-goog-.*)$/i;
const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Attributes that HTTP cannot represent are omitted. */
function unwrapped({ subscription, received: { message } }: Pushed, writeMetadata: boolean) {
  const carried = Object.entries(message.attributes).filter(
    ([name, value]) =>
      HEADER.test(name) &&
      !RESERVED.test(name) &&
      !HOP_BY_HOP.test(name) &&
      /^[\t\x20-\x7e\x80-\xff]*$/.test(value),
  );
  const headers: Record<string, string> = writeMetadata
    ? {
        ...Object.fromEntries(carried),
        'x-goog-pubsub-subscription-name': subscription,
        'x-goog-pubsub-message-id': messageId(message.id),
        'x-goog-pubsub-publish-time': new Date(message.publishedAt).toISOString(),
        ...(message.orderingKey !== '' &&
          /^[\x20-\x7e]*$/.test(message.orderingKey) && {
            'x-goog-pubsub-ordering-key': message.orderingKey,
          }),
      }
    : {};
  return { headers, body: message.data };
}
