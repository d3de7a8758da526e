/**
 * Pub/Sub endpoint: a message becomes one run of the workflow that subscribes to its topic, or one event for waiting
 * runs, however often it is delivered. Permanent refusals are acknowledged and logged. Temporary ones are thrown, so
 * that the subscription redelivers the message. The subscription (its dead letter topic) handles messages that are never
 * accepted.
 */
import { correlationId } from '../../core/encoding/correlation.ts';
import { requestHash } from '../../core/encoding/fingerprint.ts';
import { pubsubKey } from '../../core/encoding/idempotency-keys.ts';
import { CairnError, type ErrorCode, invalidInput } from '../../core/errors.ts';
import { parseTraceparent, type TraceContext } from '../../core/trace.ts';
import type { MessageEvent, PubsubDelivery, PubsubMessage, PubsubStart } from '../../engine/define/pubsub.ts';
import type { Workflow } from '../../engine/define/steps.ts';
import type { DeliverDeps } from '../../engine/mailbox/deliver.ts';
import { deliverEvent } from '../../operations/events/deliver-event.ts';
import type { StartDeps } from '../../operations/start/request.ts';
import { startMapped } from '../../operations/start/start-mapped.ts';
import { errorTypeOf, type Span, type SpanAttributes, type SpanOptions } from '../../ports/tracing.ts';
import { type DeliveredMessage, readMessage } from './message.ts';

export interface PubsubDeps extends StartDeps, DeliverDeps {
  /** Recorded in every run. */
  readonly environment: string;
  /** Owns the runs that messages start, and receives the events that they deliver. */
  readonly tenantId: string;
}

type MessageResult =
  | { readonly kind: 'started' | 'repeated'; readonly runId: string }
  | { readonly kind: 'delivered'; readonly runs: number }
  /** The author's mapping dropped the message. */
  | { readonly kind: 'ignored' }
  /** Permanent: every redelivery would be refused too. */
  | { readonly kind: 'refused'; readonly code: string };

/** Codes below 500 that are temporary: buffered events may be received, or the definition corrected. */
const PASSING: ReadonlySet<string> = new Set<ErrorCode>(['RATE_LIMITED', 'PLAN_CHANGED']);

/**
 * @param topic short name of the topic
 * @param delivered the value that the function got: message and subscription
 * @throws if the message must be delivered again
 */
export async function takeMessage(
  deps: PubsubDeps,
  topic: string,
  delivered: unknown,
): Promise<MessageResult> {
  const { log } = deps;
  let span: Span | undefined;
  try {
    const read = readMessage(topic, delivered);
    span = deps.tracer?.open(messageSpan(read));
    const taken = await take(deps, read, span?.context ?? messageTrace(read.message));
    span?.set(outcomeAttributes(taken));
    return taken;
  } catch (error) {
    span?.end(errorTypeOf(error));
    if (!(error instanceof CairnError) || error.httpStatus >= 500 || PASSING.has(error.code)) throw error;
    const { code, message: reason } = error;
    log.error('pubsub_message_refused', { topic, messageId: idIn(delivered), code, reason });
    return { kind: 'refused', code };
  } finally {
    span?.end();
  }
}

async function take(
  deps: PubsubDeps,
  delivered: DeliveredMessage,
  trace: TraceContext | undefined,
): Promise<MessageResult> {
  const { topic } = delivered.message;
  const listener = deps.registry.pubsubListener(topic);
  if (!listener) {
    throw new CairnError('NOT_FOUND', `no workflow subscribes to the topic '${topic}'`, { field: 'topic' });
  }
  const { workflow, subscription } = listener;
  if (subscription.deliver) return deliverToRun(deps, subscription, delivered);
  return start(deps, { workflow, subscription, delivered, trace });
}

interface Start {
  readonly workflow: Workflow;
  readonly subscription: PubsubStart;
  readonly delivered: DeliveredMessage;
  readonly trace: TraceContext | undefined;
}

async function start(
  deps: PubsubDeps,
  { workflow, subscription, delivered, trace }: Start,
): Promise<MessageResult> {
  const { tenantId, environment } = deps;
  const { message } = delivered;
  const { topic, messageId, attributes, text } = message;
  const identity = {
    tenantId,
    key: pubsubKey(delivered.subscription, messageId),
    requestHash: requestHash(`pubsub:${topic}`, { attributes, text }),
  };
  const mapping = () => mapped(deps, message, subscription.input ?? requireJson);
  const outcome = await startMapped(deps, identity, mapping, (input) => ({
    ...identity,
    environment,
    workflow,
    input,
    trigger: { source: 'webhook', userId: `p.${topic}`, webhookEventId: messageId },
    source: 'pubsub',
    trace,
    a2aCorrelationId: correlationId(attributes.a2aCorrelationId, 'attributes.a2aCorrelationId'),
  }));
  if (outcome.kind === 'in_flight') throw new CairnError('UNAVAILABLE', 'another start is in progress');
  return { kind: outcome.kind === 'created' ? 'started' : 'repeated', runId: outcome.runId };
}

async function deliverToRun(
  deps: PubsubDeps,
  { deliver }: PubsubDelivery,
  { subscription, message }: DeliveredMessage,
): Promise<MessageResult> {
  const by = deliver === 'attributes' ? byAttributes : deliver;
  const event = mapped(deps, message, by);
  if (!event) return { kind: 'ignored' };
  const { delivered } = await deliverEvent(deps, {
    tenantId: deps.tenantId,
    event: event.event,
    key: event.key,
    data: event.data,
    eventId: pubsubKey(subscription, message.messageId),
  });
  return { kind: 'delivered', runs: delivered.length };
}

function byAttributes(message: PubsubMessage): MessageEvent {
  const { event, key } = message.attributes;
  if (event === undefined || key === undefined) {
    throw invalidInput('attributes', "the message needs the attributes 'event' and 'key'");
  }
  return { event, key, data: message.text === '' ? undefined : requireJson(message) };
}

function requireJson({ json }: PubsubMessage): unknown {
  if (json !== undefined) return json;
  throw invalidInput('data', 'the data of the message is not JSON');
}

/** A mapping that throws would throw every time, so the message is refused, and the author's error is logged. */
function mapped<T>({ log }: PubsubDeps, message: PubsubMessage, mapping: (message: PubsubMessage) => T): T {
  try {
    return mapping(message);
  } catch (error) {
    if (error instanceof CairnError && error.httpStatus < 500) throw error;
    const { topic, messageId } = message;
    log.error('pubsub_mapping_failed', { topic, messageId, error });
    throw new CairnError('INVALID_INPUT', 'the message mapping of the workflow failed', { cause: error });
  }
}

function idIn(delivered: unknown): unknown {
  const { message } = (delivered ?? {}) as { readonly message?: { readonly messageId?: unknown } };
  return message?.messageId;
}

/** The attribute of Google's client libraries, and the standard one. */
const ATTRIBUTES = ['googclient_traceparent', 'traceparent'];

/** The span of the publisher, if the message has it. */
function messageTrace({ attributes }: PubsubMessage): TraceContext | undefined {
  for (const name of ATTRIBUTES) {
    const trace = parseTraceparent(attributes[name]);
    if (trace) return trace;
  }
  return undefined;
}

function messageSpan({ subscription, message }: DeliveredMessage): SpanOptions {
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

function outcomeAttributes(taken: MessageResult): SpanAttributes {
  return {
    'cairn.message.outcome': taken.kind,
    'cairn.run.id': 'runId' in taken ? taken.runId : undefined,
  };
}
