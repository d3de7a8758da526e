/**
 * The event bus of this process. The client library is large, and a process that only reads runs never publishes, so it is loaded
 * with the first message.
 */
import { FusedBus } from '../../bus/fused-bus.ts';
import { type PublisherClient, PubsubEventBus } from '../../bus/pubsub-event-bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { EventBus } from '../../ports/runs/event-bus.ts';
import type { Settings } from '../settings/settings.ts';
import { connectedOnce } from './connected-once.ts';
import { type Wire, wireTo } from './wire.ts';

interface LazyBusOptions {
  readonly settings: Pick<Settings, 'project' | 'runEventsTopic' | 'pubsubHost' | 'wireHosts'>;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly log: Log;
}

/** Undefined if run events are not published. */
export function lazyBus({ settings, clock, random, log }: LazyBusOptions): EventBus | undefined {
  const { project, runEventsTopic: topic, pubsubHost, wireHosts } = settings;
  if (topic === undefined) return undefined;
  const wire = wireTo(pubsubHost, wireHosts);
  const connected = connectedOnce(async () => {
    const client = wire ? await publisherByFrames(wire) : await publisherClient(pubsubHost);
    return new PubsubEventBus({ client, project, topic, clock, random });
  });
  const bus: EventBus = {
    isReachable: wire && audienceOf(wire, `projects/${project}/topics/${topic}`, clock),
    async publish(messages) {
      await (await connected()).publish(messages);
    },
  };
  return new FusedBus({ bus, clock, log, topic });
}

async function publisherClient(host: string | undefined): Promise<PublisherClient> {
  const { v1 } = await import('@google-cloud/pubsub');
  if (host === undefined) {
    const client = new v1.PublisherClient();
    // Finds credentials. Otherwise the first call does, whose failure would also be an unhandled rejection.
    await client.initialize();
    return client as PublisherClient;
  }
  const [apiEndpoint = '', port] = host.split(':');
  const { credentials } = await import('@grpc/grpc-js');
  const sslCreds = credentials.createInsecure();
  return new v1.PublisherClient({ apiEndpoint, port: Number(port), sslCreds }) as PublisherClient;
}

/** Time between two attempts to read the subscriber state. */
const AUDIENCE_RETRY_MS = 1_000;

/** True unless the local Pub/Sub reports that the topic has no subscribers. Read at the first call, then updated. */
function audienceOf(wire: Wire, topic: string, clock: Clock): () => boolean {
  let isReachable = true;
  let isWatching = false;
  let askAt = 0;
  return () => {
    if (!isWatching && clock.now() >= askAt) {
      isWatching = true;
      wire.listen('/cairn.local.Audience/Watch', Buffer.from(topic), {
        onMessage(message) {
          isReachable = message[0] === 1;
        },
        onEnd() {
          isWatching = false;
          isReachable = true;
          askAt = clock.now() + AUDIENCE_RETRY_MS;
        },
      });
    }
    return isReachable;
  };
}

const PUBLISH = '/google.pubsub.v1.Publisher/Publish';

async function publisherByFrames(wire: Wire): Promise<PublisherClient> {
  const { protos } = await import('@google-cloud/pubsub');
  const { PublishRequest } = protos.google.pubsub.v1;
  return {
    publish: (request, { timeout }) =>
      wire.call(PUBLISH, PublishRequest.encode(PublishRequest.fromObject(request)).finish(), timeout),
  };
}
