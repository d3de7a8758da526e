/** A message as the HTTP request a push endpoint gets: the documented JSON envelope. Pure. */
import { type DispatchRequest, identityToken } from '../../tasks/attempt.ts';
import { messageId, type PushConfig } from '../model/resources.ts';
import type { Received } from '../service/feed.ts';

export interface Pushed {
  readonly push: PushConfig;
  readonly subscription: string;
  readonly received: Received;
  readonly now: number;
}

/** Names in both spellings, as production sends them: handlers read either. */
export function pushRequest({ push, subscription, received, now }: Pushed): Omit<DispatchRequest, 'signal'> {
  const { message, attempt } = received;
  const id = messageId(message.id);
  const publishTime = new Date(message.publishedAt).toISOString();
  const body = {
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
  return {
    url: push.endpoint,
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'CloudPubSub-Google',
      ...(push.oidc && { Authorization: `Bearer ${identityToken(push.oidc, now)}` }),
    },
    body: Buffer.from(JSON.stringify(body)),
  };
}
