/**
 * Counts the billed operations of this process's Firestore client, per call. Includes reads in
 * transactions and of listeners, which no code around the stores could count.
 *
 * The library has no hook for that. The two methods through which it sends everything are wrapped. They are not in its
 * types: with a library version that lacks them, this fails clearly at the first start in any test.
 */
import type { Firestore } from '@google-cloud/firestore';
import type { OperationTally } from '../../ports/diagnosis/operations.ts';

/** Documents counted by an aggregation per billed read. */
const COUNTED_A_READ = 1_000;

interface RequestSender {
  request(method: string, message: unknown, ...rest: unknown[]): Promise<unknown>;
  requestStream(method: string, ...rest: unknown[]): Promise<Emitting>;
}

interface Emitting {
  emit(event: string, ...args: unknown[]): boolean;
}

/** The used part of a protocol message. */
interface ProtocolMessage {
  readonly writes?: readonly object[];
  readonly document?: unknown;
  readonly found?: unknown;
  readonly missing?: unknown;
  readonly documentChange?: unknown;
  readonly result?: {
    readonly aggregateFields?: Readonly<Record<string, { readonly integerValue?: unknown }>>;
  } | null;
}

/** The same client. */
export function tallied(db: Firestore, tally: OperationTally): Firestore {
  const client = db as unknown as RequestSender;
  const { request, requestStream } = client;
  if (typeof request !== 'function' || typeof requestStream !== 'function')
    throw new Error('the Firestore client changed how it sends requests');
  client.request = async (method, message, ...rest) => {
    const answer = await request.call(client, method, message, ...rest);
    if (method === 'commit') billWrites(tally, (message as ProtocolMessage).writes ?? []);
    return answer;
  };
  client.requestStream = async (method, ...rest) =>
    counting(await requestStream.call(client, method, ...rest), method, tally);
  return db;
}

/** Bills an applied commit. A refused one is not billed. */
function billWrites(tally: OperationTally, writes: readonly object[]): void {
  const deletes = writes.filter((write) => 'delete' in write && write.delete).length;
  tally.billed({ reads: 0, writes: writes.length - deletes, deletes });
}

function counting(stream: Emitting, method: string, tally: OperationTally): Emitting {
  const { emit } = stream;
  let reads = 0;
  const read = (count: number) => {
    reads += count;
    if (count > 0) tally.billed({ reads: count, writes: 0, deletes: 0 });
  };
  stream.emit = (event, ...args) => {
    if (event === 'data') read(readsOf(args[0] as ProtocolMessage));
    // A query that finds nothing is billed one read.
    if (event === 'end' && reads === 0 && method === 'runQuery') read(1);
    return emit.call(stream, event, ...args);
  };
  return stream;
}

function readsOf({ document, found, missing, documentChange, result }: ProtocolMessage): number {
  if (document || found || missing || documentChange) return 1;
  if (!result?.aggregateFields) return 0;
  const counts = Object.values(result.aggregateFields).map(({ integerValue }) => Number(integerValue ?? 0));
  return Math.max(1, Math.ceil(Math.max(...counts, 0) / COUNTED_A_READ));
}
