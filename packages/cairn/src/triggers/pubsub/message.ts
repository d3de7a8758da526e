/** Converts a Pub/Sub message from the form that functions get to the one that authors' mappings get. */
import { z } from 'zod';
import type { Json } from '../../core/encoding/json.ts';
import { invalidInput } from '../../core/errors.ts';
import { firstIssue } from '../../core/first-issue.ts';
import type { PubsubMessage } from '../../engine/define/pubsub.ts';
import { assertShape } from '../../http/json-shape.ts';

const Text = z.string().refine((text) => text.isWellFormed(), 'is not well-formed text');

const Delivered = z.object({
  subscription: Text.min(1),
  message: z.object({
    messageId: Text.min(1),
    /** Base64. */
    data: z.string().nullish(),
    attributes: z.record(Text, Text).nullish(),
    publishTime: Text.nullish(),
  }),
});

export interface DeliveredMessage {
  /** Short name of the subscription that delivered it. With the id it identifies the message. */
  readonly subscription: string;
  readonly message: PubsubMessage;
}

/** @throws CairnError INVALID_INPUT with the name of the member, PAYLOAD_TOO_LARGE for JSON with too many values */
export function readMessage(topic: string, delivered: unknown): DeliveredMessage {
  const parsed = Delivered.safeParse(delivered);
  if (!parsed.success) {
    const { field, why } = firstIssue(parsed.error.issues);
    throw invalidInput(field, `${field}: ${why}`);
  }
  const { subscription, message } = parsed.data;
  const { messageId, data, attributes, publishTime } = message;
  const bytes = Buffer.from(data ?? '', 'base64');
  const json = jsonOf(bytes);
  return {
    subscription: subscription.slice(subscription.lastIndexOf('/') + 1),
    message: {
      topic,
      messageId,
      publishedAt: publishTime ?? '',
      attributes: attributes ?? {},
      text: bytes.toString('utf8'),
      json,
    },
  };
}

/** Undefined if the data is not JSON. An author's mapping may still be able to read it. */
function jsonOf(bytes: Buffer): Json | undefined {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
  assertShape(text);
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
