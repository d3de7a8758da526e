/** The topic and push subscription that a deployment creates for the Pub/Sub trigger of a function. Pure. */
import type { SubscriptionConfig } from '@cairn/local-pubsub/model/resources';
import { LIMITS } from '@cairn/local-pubsub/model/resources';
import type { FunctionSpec, MessageTrigger } from '../function-spec.ts';

/** Shorter than the 10 s and 10 min of production, so that redeliveries are soon visible. */
const RETRY = { minBackoffMs: 1_000, maxBackoffMs: 60_000 };

export interface ForFunction {
  readonly projectId: string;
  readonly functionsUrl: string;
  readonly spec: FunctionSpec;
  readonly trigger: MessageTrigger;
}

/** Functions without retries get them here too, so that a developer notices messages that production would lose. */
export function subscriptionOf({ projectId, functionsUrl, spec, trigger }: ForFunction): SubscriptionConfig {
  return {
    name: `projects/${projectId}/subscriptions/eventarc-${spec.region}-${spec.name}-sub`,
    topic: topicName(projectId, trigger.topic),
    push: { endpoint: `${functionsUrl}/${spec.name}`, unwrapped: undefined, attributes: {}, oidc: undefined },
    ackDeadlineMs: LIMITS.maxAckDeadlineMs,
    retainAcked: false,
    retentionMs: LIMITS.defaultRetentionMs,
    labels: {},
    ordered: false,
    expiresAfterMs: undefined,
    filter: '',
    deadLetter: undefined,
    retry: RETRY,
    detached: false,
    exactlyOnce: false,
  };
}

export function topicName(projectId: string, topic: string): string {
  return `projects/${projectId}/topics/${topic}`;
}
