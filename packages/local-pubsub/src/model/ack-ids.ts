/** The form of ack ids, `{subscription}.{generation}.{message}.{delivery}`, and the errors for invalid ones. Pure. */
import { createHash } from 'node:crypto';
import { invalid } from './status.ts';

const ACK_ID = /^([A-Za-z0-9_-]{6})\.[A-Za-z0-9_-]+\.\d+\.\d+$/;

/** Short, because the trailers of one response have up to 500 ids. */
export function ackIdTag(subscription: string): string {
  return createHash('sha256').update(subscription).digest('base64url').slice(0, 6);
}

/** Accepts ids of every delivery by the subscription, also expired ones. @throws PubsubError for any other text */
export function requireAckIds(ackIds: readonly string[], subscription: string): void {
  const tag = ackIdTag(subscription);
  for (const ackId of ackIds) {
    const given = ACK_ID.exec(ackId)?.[1];
    if (given === undefined) {
      const shown = ackId.slice(0, 100).replace(/[^\x20-\x7e]/g, '?');
      throw invalid(`You have passed an invalid ack ID to the service (ack_id=${shown}).`);
    }
    if (given !== tag) {
      throw invalid(
        `You have passed a subscription that does not belong to the given ack ID (resource=${subscription}).`,
      );
    }
  }
}
