/**
 * Format of requests and responses between the cloud process and a worker: the length of the head (u32, little endian), the head as
 * JSON, and bytes of the body. Further messages of a response contain only bytes of the body. An empty message before the head means that
 * the worker has taken a request with a `takeBy`.
 */

/** Value of the `Upgrade` header that asks a worker's server for frames. */
export const UPGRADE = 'cairn-frames';
export const PATH = '/Serve';
/** Name of a probe: the link itself returns its body, which shows that the worker responds. */
export const ECHO = '';
/** A larger body is streamed by HTTP. */
export const MAX_WHOLE_BYTES = 1024 * 1024;
/** gRPC's FAILED_PRECONDITION: the worker is ending and has not read the request. */
export const NOT_TAKEN = 9;
/** gRPC's ABORTED: the worker has read the request after its `takeBy`. */
export const TOO_LATE = 10;
/** gRPC's UNIMPLEMENTED: the worker has no such function that takes whole requests; HTTP is used instead. */
export const NOT_SERVED = 12;

export type Headers = Readonly<Record<string, string | number | string[] | undefined>>;

export interface RequestHead {
  /** Name of the function. */
  readonly name: string;
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Headers;
  /** Deadline by {@link machineMs}. A worker that reads the request later does not take it, because its event loop was blocked. */
  readonly takeBy?: number | undefined;
}

export interface AnswerHead {
  readonly status: number;
  readonly headers: Headers;
}

export interface LinkMessage<Head> {
  readonly head: Head;
  /** The part of the body that is in this message. */
  readonly body: Buffer;
}

/** True for methods that HTTP defines as safe: repeating the request changes nothing. */
export const isSafe = (method: string) => method === 'GET' || method === 'HEAD';

/**
 * Silence after which a request with an idempotency key is repeated. Functions give up calls to the store after 7 s, the last heartbeat may
 * be 1 s older than the blocking, and silence is measured to half a second. A shorter limit would also repeat requests that block a worker
 * themselves, for example by the schema of their input.
 */
const KEYED_AFTER_MS = 8_500;

/** Silence of its worker in ms after which another worker may execute the request too; undefined: never. */
export function repeatableAfterMs({
  method,
  headers,
}: Pick<RequestHead, 'method' | 'headers'>): number | undefined {
  if (isSafe(method)) return 0;
  // The key identifies the repeated request.
  return headers['idempotency-key'] === undefined ? undefined : KEYED_AFTER_MS;
}

const LENGTH_BYTES = 4;

/** Monotonic clock shared by all processes of the machine, in ms. */
export const machineMs = () => Number(process.hrtime.bigint() / 1_000_000n);

export function encode(head: RequestHead | AnswerHead, body: Uint8Array): Buffer {
  const text = JSON.stringify(head);
  const headBytes = Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafe(LENGTH_BYTES + headBytes + body.length);
  bytes.writeUInt32LE(headBytes, 0);
  bytes.write(text, LENGTH_BYTES);
  bytes.set(body, LENGTH_BYTES + headBytes);
  return bytes;
}

/** @throws Error for bytes that {@link encode} did not make */
export function decode<Head extends RequestHead | AnswerHead>(bytes: Buffer): LinkMessage<Head> {
  const end = LENGTH_BYTES + bytes.readUInt32LE(0);
  return {
    head: JSON.parse(bytes.toString('utf8', LENGTH_BYTES, end)) as Head,
    body: bytes.subarray(end),
  };
}
