/**
 * The local Pub/Sub server: composition root of this folder. Binds loopback only and serves `google.pubsub.v1` over gRPC
 * and REST to unmodified clients that have `PUBSUB_EMULATOR_HOST` set to its `host`.
 */

import { randomBytes } from 'node:crypto';
import { Faults } from '@cairn/local-firestore/faults';
import { iamCalls } from '@cairn/local-kit/iam/policies';
import { unaryRest } from '@cairn/local-kit/rest/unary-rest';
import type { StorageChoice } from '@cairn/local-kit/sqlite/grouped-database';
import type { ServerClock } from '@cairn/local-kit/time/clock';
import { frameServer } from '@cairn/local-kit/wire/frame-server';
import { listenForBoth } from '@cairn/local-kit/wire/shared-port';
import type { Dispatch } from '@cairn/local-tasks/attempt';
import { Server, type ServiceDefinition } from '@grpc/grpc-js';
import type protobuf from 'protobufjs';
import { LIMITS, type SubscriptionConfig } from './model/resources.ts';
import { Broker, type BrokerCounts } from './service/broker.ts';
import { implementation, type ServiceCalls, streamingPull } from './service/grpc-adapter.ts';
import { publisherCalls } from './service/publisher.ts';
import { Pushers } from './service/push.ts';
import { schemaCalls } from './service/schema-calls.ts';
import { snapshotCalls, topicSnapshotCalls } from './service/snapshot-calls.ts';
import { subscriberCalls } from './service/subscriber.ts';
import { PubsubStore } from './storage/storage.ts';
import { pubsubProtocol } from './wire/protocol.ts';

export interface PubsubServerOptions {
  readonly storage: StorageChoice;
  /** 0 or absent: any free port. */
  readonly port?: number;
  readonly clock: ServerClock;
  /** Sends pushed messages. */
  readonly dispatch: Dispatch;
  /** Never the same twice, not even after a restart: letters, digits, `-` and `_`. */
  readonly freshGeneration: () => string;
  /** Runs a delivery after its publisher has received its id; default: a moment later. */
  readonly afterAnswer?: (deliver: () => void) => void;
  /** Receives a sentence for each setting that is stored but not applied, such as an export to BigQuery. */
  readonly notice?: (line: string) => void;
  /** Ends this process immediately, for rules that request it; without it they are refused. */
  readonly crash?: () => void;
}

export interface PubsubServer {
  /** `127.0.0.1:port` */
  readonly host: string;
  readonly counts: Readonly<BrokerCounts>;
  /** Injected faults; none at first. */
  readonly faults: Faults;
  ensureTopic(name: string): void;
  /** Creates the subscription, and its topic, if they do not exist, with push to the configured endpoint. */
  ensureSubscription(config: SubscriptionConfig): void;
  /** Starts pushing. Until then messages are accepted and wait. */
  start(): void;
  /** Starts no further push; calls are still served. */
  quiesce(): void;
  stop(): Promise<void>;
}

/** Larger than the limit of a request, so that this server and not the transport refuses it, with a reason. */
const MAX_MESSAGE_BYTES = 2 * LIMITS.requestBytes;
/** JSON is larger than the protobuf encoding, whose size is checked afterwards. */
const MAX_BODY_BYTES = 2 * LIMITS.requestBytes;

/**
 * Delay in real time from a publish to its delivery. Production takes longer. Without a delay a subscriber could get a
 * message before its publisher has the id, and code that waits for a message by id would miss it.
 */
const DELIVERY_LATENCY_MS = 25;

const aMomentLater = (deliver: () => void) => void setTimeout(deliver, DELIVERY_LATENCY_MS).unref();

/** Letters, digits, `-` and `_`; unique by 72 random bits. */
export function randomGeneration(): string {
  return randomBytes(9).toString('base64url');
}

export async function startPubsubServer(options: PubsubServerOptions): Promise<PubsubServer> {
  const store = new PubsubStore(options.storage);
  try {
    return await serveFrom(store, options);
  } catch (error) {
    store.close();
    throw error;
  }
}

async function serveFrom(store: PubsubStore, options: PubsubServerOptions): Promise<PubsubServer> {
  const { clock, dispatch, freshGeneration, afterAnswer = aMomentLater } = options;
  const pushers = new Pushers({ clock, dispatch });
  const broker = new Broker({
    store,
    clock,
    freshGeneration,
    afterAnswer,
    pushers,
    notice: options.notice,
  });
  const faults = new Faults(options.crash);
  const server = new Server({
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': -1,
  });
  const { publisher, subscriber, schemas, iam } = pubsubProtocol();
  const freshId = () => `s${freshGeneration()}`;
  const requireResource = (name: string) => broker.requireResource(name);
  const publishing = { ...publisherCalls(broker), ...topicSnapshotCalls(broker) };
  const receiving = { ...subscriberCalls(broker, clock, freshId), ...snapshotCalls(broker, freshId) };
  const access = iamCalls({ store: store.policies, now: () => clock.now(), requireResource });
  const serve = (
    described: { definition: ServiceDefinition; protocol: protobuf.Service },
    calls: ServiceCalls,
  ) => ({
    ...described,
    implementation: implementation(described.definition, calls, faults),
  });
  const published = serve(publisher, publishing);
  const services = [
    published,
    serve(subscriber, receiving),
    serve(schemas, schemaCalls(broker)),
    serve(iam, access),
  ];
  for (const { definition, implementation: calls } of services) {
    server.addService(
      definition,
      definition === subscriber.definition
        ? { ...calls, StreamingPull: streamingPull(broker, faults) }
        : calls,
    );
  }
  const frames = frameServer([published, broker.subscriberWatch.service()]);
  const http = unaryRest({
    services,
    name: 'Defect in the local Pub/Sub server',
    maxBodyBytes: MAX_BODY_BYTES,
  });
  const port = await listenForBoth({ grpc: server, http, frames }, options.port ?? 0);
  return {
    host: port.host,
    counts: broker.counts,
    faults,
    ensureTopic(name) {
      broker.topics.ensure(name);
      broker.subscriberWatch.changed();
    },
    ensureSubscription(config) {
      broker.topics.ensure(config.topic);
      broker.ensureSubscription(config);
    },
    start: () => broker.start(),
    quiesce: () => broker.quiesce(),
    async stop() {
      broker.stop();
      port.close();
      store.close();
    },
  };
}
