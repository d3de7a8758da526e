/** A Pub/Sub server with the unmodified client, a push target that records requests, and a clock that the test moves. */
import { type ClientConfig, type Message, PubSub, type Subscription, v1 } from '@google-cloud/pubsub';
import { credentials } from '@grpc/grpc-js';
import type { StorageChoice } from '../../../packages/local-kit/src/sqlite/grouped-database.ts';
import { type MovableClock, movableClock } from '../../../packages/local-kit/src/time/clock.ts';
import { type PubsubServer, startPubsubServer } from '../../../packages/local-pubsub/src/server.ts';
import type { DispatchRequest, DispatchResult } from '../../../packages/local-tasks/src/dispatch/attempt.ts';

// Otherwise the client searches for Google's metadata server on the network.
process.env.METADATA_SERVER_DETECTION = 'none';

export const PROJECT = 'projects/demo-cairn';
export const TOPIC = `${PROJECT}/topics/news`;
export const SUBSCRIPTION = `${PROJECT}/subscriptions/reader`;

export type Answer = DispatchResult | ((request: DispatchRequest) => Promise<DispatchResult>);

export interface PubsubFixture {
  /** The usual client, configured by the environment. */
  readonly client: PubSub;
  /** The generated clients, with one method per call. */
  readonly publisher: v1.PublisherClient;
  readonly subscriber: v1.SubscriberClient;
  readonly server: PubsubServer;
  readonly clock: MovableClock;
  /** Every push so far, in order. */
  readonly pushes: DispatchRequest[];
  /** Responses to the next pushes, in order; then 204. */
  readonly answers: Answer[];
  /** Notices for the person who runs the server. */
  readonly notices: string[];
  /** Holds deliveries of new messages back. @returns a function that delivers them */
  holdDeliveries(): () => void;
  /** Ends the server but not the clients. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export const answered = (status: number): DispatchResult => ({
  kind: 'answered',
  status,
  retryAfter: undefined,
});

let generations = 0;

/** The clock stands still unless the test moves it, so that deadlines and pauses are exact. */
export async function startPubsub(
  storage: StorageChoice = { kind: 'memory' },
  dispatch?: (request: DispatchRequest) => Promise<DispatchResult>,
): Promise<PubsubFixture> {
  const began = Date.UTC(2026, 0, 1);
  const clock = movableClock(() => began);
  const pushes: DispatchRequest[] = [];
  const answers: Answer[] = [];
  const notices: string[] = [];
  let afterAnswer = (deliver: () => void) => deliver();
  const server = await startPubsubServer({
    storage,
    clock,
    freshGeneration: () => `g${++generations}`,
    notice: (line) => notices.push(line),
    afterAnswer: (deliver) => afterAnswer(deliver),
    async dispatch(request) {
      pushes.push(request);
      if (dispatch) return dispatch(request);
      const answer = answers.shift() ?? answered(204);
      return typeof answer === 'function' ? answer(request) : answer;
    },
  });
  server.start();
  process.env.PUBSUB_EMULATOR_HOST = server.host;
  const client = new PubSub({ projectId: 'demo-cairn' } satisfies ClientConfig);
  const [apiEndpoint = '', port = ''] = server.host.split(':');
  const options = {
    apiEndpoint,
    port: Number(port),
    sslCreds: credentials.createInsecure(),
    projectId: 'demo-cairn',
  };
  const publisher = new v1.PublisherClient(options);
  const subscriber = new v1.SubscriberClient(options);
  return {
    client,
    publisher,
    subscriber,
    server,
    clock,
    pushes,
    answers,
    notices,
    holdDeliveries() {
      const held: (() => void)[] = [];
      afterAnswer = (deliver) => void held.push(deliver);
      return () => {
        for (const deliver of held.splice(0)) deliver();
      };
    },
    kill: () => server.stop(),
    async stop() {
      await Promise.all([client.close(), publisher.close(), subscriber.close()]);
      await server.stop();
    },
  };
}

/** Subscribes with the streaming client and records messages; `take` handles each message. */
export function listen(subscription: Subscription, take: (message: Message) => void): Message[] {
  const received: Message[] = [];
  subscription.on('message', (message: Message) => {
    received.push(message);
    take(message);
  });
  // Ignores errors of a stream that the test ends on purpose.
  subscription.on('error', () => {});
  return received;
}

export const text = (message: { data?: Uint8Array | string | null }) =>
  Buffer.from((message.data ?? '') as Uint8Array).toString();
