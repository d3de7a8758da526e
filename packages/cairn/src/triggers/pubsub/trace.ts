/** Trace of a message: the span of its publisher, and the span of its receipt. Pure. */
import { parseTraceparent, type TraceContext } from '../../core/trace.ts';
import type { PubsubMessage } from '../../engine/define/pubsub.ts';
import type { SpanAttributes, SpanOptions } from '../../ports/tracing.ts';
import type { DeliveredMessage } from './message.ts';
import type { MessageResult } from './take-message.ts';

/** Attribute of Google's client libraries, and the standard one. */
const ATTRIBUTES = ['googclient_traceparent', 'traceparent'];

/** The span of the publisher, if the message has it. */
export function messageTrace({ attributes }: PubsubMessage): TraceContext | undefined {
  for (const name of ATTRIBUTES) {
    const trace = parseTraceparent(attributes[name]);
    if (trace) return trace;
  }
  return undefined;
}

export function messageSpan({ subscription, message }: DeliveredMessage): SpanOptions {
  const { topic, messageId } = message;
  return {
    name: `process ${topic}`,
    kind: 'consumer',
    parent: messageTrace(message),
    attributes: {
      'messaging.system': 'gcp_pubsub',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': topic,
      'messaging.destination.subscription.name': subscription,
      'messaging.message.id': messageId,
      'faas.trigger': 'pubsub',
    },
  };
}

export function outcomeAttributes(taken: MessageResult): SpanAttributes {
  return {
    'cairn.message.outcome': taken.kind,
    'cairn.run.id': 'runId' in taken ? taken.runId : undefined,
  };
}
