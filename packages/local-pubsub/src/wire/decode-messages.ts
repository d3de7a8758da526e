/**
 * Validates published messages: converts messages of a request to model values, or throws INVALID_ARGUMENT with the
 * reason. Pure.
 */
import { LIMITS, type Publication } from '../model/resources.ts';
import { invalid } from '../model/status.ts';
import type { WireMessage } from './messages.ts';

/** The messages of one publish, all or none. */
export function publicationsFrom(messages: readonly WireMessage[]): Publication[] {
  if (messages.length === 0) throw invalid('The value for message_count is too small. You passed 0.');
  if (messages.length > LIMITS.messagesPerPublish) {
    throw invalid(
      `The value for message_count is too large. You passed ${messages.length} in the request, but the maximum value is ${LIMITS.messagesPerPublish}.`,
    );
  }
  const publications = messages.map(publicationFrom);
  if (publications.some(({ orderingKey }) => orderingKey !== publications[0]?.orderingKey)) {
    throw invalid('All messages in a publish request must specify the same ordering_key value.');
  }
  return publications;
}

const NOTHING = new Uint8Array();

function publicationFrom({ data, attributes, orderingKey }: WireMessage): Publication {
  const publication = {
    // protobufjs gives an empty array, not empty bytes, for a field that was not sent.
    data: data?.length ? data : NOTHING,
    attributes: { ...attributes },
    orderingKey: orderingKey ?? '',
  };
  const pairs = Object.entries(publication.attributes);
  if (publication.data.length === 0 && pairs.length === 0) {
    throw invalid(
      'One or more messages in the publish request is empty. Each message must contain either non-empty data, or at least one attribute.',
    );
  }
  if (pairs.length > LIMITS.attributes) {
    throw invalid(`A message has ${pairs.length} attributes; ${LIMITS.attributes} are allowed.`);
  }
  for (const [key, value] of pairs) checkAttribute(key, value);
  if (Buffer.byteLength(publication.orderingKey) > LIMITS.orderingKeyBytes) {
    throw invalid(`An ordering key has more than ${LIMITS.orderingKeyBytes} bytes.`);
  }
  return publication;
}

/** Google's own clients add `googclient_` attributes for tracing. */
function checkAttribute(key: string, value: string): void {
  const reserved = key.startsWith('goog') && !key.startsWith('googclient_');
  if (key === '' || reserved) throw invalid(`An attribute key is empty or begins with 'goog'.`);
  if (Buffer.byteLength(key) > LIMITS.attributeKeyBytes) {
    throw invalid(`An attribute key has more than ${LIMITS.attributeKeyBytes} bytes.`);
  }
  if (Buffer.byteLength(value) > LIMITS.attributeValueBytes) {
    throw invalid(`The value of an attribute has more than ${LIMITS.attributeValueBytes} bytes.`);
  }
}
