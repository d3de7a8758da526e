/**
 * Gives every request of the high-level Firestore client a deadline, and disables its hidden retries. These have four
 * layers: gax retries single requests, `retry-request` retries streams, `_retry` of the client retries both, and
 * interrupted queries restart. With Cairn, the caller decides about retries.
 *
 * The library has no setting for that. The three methods through which it sends everything are replaced. They are not in
 * its types: with a library version that lacks them, this fails clearly at the first start in any test.
 *
 * Must not: change listeners. They stay open, and reconnect by themselves.
 */
import type { Firestore } from '@google-cloud/firestore';
import type { Clock } from '../../ports/clock.ts';
import { GRPC_STATUS } from '../../ports/grpc-outcome.ts';
import { type Deadlines, within } from './deadlines.ts';

interface Internals {
  createCallOptions(method: string, retryCodes?: readonly number[]): object;
  _retry<T>(method: string, tag: string, send: () => Promise<T>): Promise<T>;
  request(method: string, message: object, tag: string, retryCodes?: readonly number[]): Promise<unknown>;
  requestStream(method: string, bidirectional: boolean, message: object, tag: string): Promise<ReadEvents>;
}

interface ReadEvents {
  once(event: 'error', listener: () => void): unknown;
}

const LISTEN = 'listen';
/** Methods answered by a stream of documents. */
const READS: ReadonlySet<string> = new Set(['batchGetDocuments', 'runQuery', 'runAggregationQuery']);
/** Tags of broken streams that are kept. The library restarts a stream immediately or never. */
const BROKEN_REMEMBERED = 1_000;

interface BoundedOptions {
  readonly clock: Clock;
  readonly deadlines: Deadlines;
}

/** The same client. */
export function withDeadlines(db: Firestore, { clock, deadlines }: BoundedOptions): Firestore {
  const client = db as unknown as Internals;
  const { createCallOptions, _retry, request, requestStream } = client;
  for (const method of [createCallOptions, _retry, request, requestStream]) {
    if (typeof method !== 'function') throw new Error('the Firestore client changed how it sends requests');
  }
  const limitOf = (method: string) => (READS.has(method) ? deadlines.readMs : deadlines.commitMs);
  const broken = new Set<string>();

  client.createCallOptions = (method, retryCodes) => {
    if (method === LISTEN) return createCallOptions.call(client, method, retryCodes);
    const once = { retry: null, retryRequestOptions: { retries: 0, noResponseRetries: 0 } };
    return { ...createCallOptions.call(client, method), ...once, timeout: limitOf(method) };
  };
  client._retry = (method, tag, send) =>
    method === LISTEN ? (_retry.call(client, method, tag, send) as ReturnType<typeof send>) : send();
  client.request = (method, ...rest) => within(clock, limitOf(method), request.call(client, method, ...rest));
  client.requestStream = async (method, bidirectional, message, tag) => {
    const send = () => requestStream.call(client, method, bidirectional, message, tag);
    if (method === LISTEN) return send();
    if (broken.delete(tag))
      throw Object.assign(new Error('the response was incomplete'), { code: GRPC_STATUS.UNAVAILABLE });
    const stream = await within(clock, limitOf(method), send());
    stream.once('error', () => {
      broken.add(tag);
      if (broken.size > BROKEN_REMEMBERED) broken.delete([...broken][0] as string);
    });
    return stream;
  };
  return db;
}
