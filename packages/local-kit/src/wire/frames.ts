/**
 * The short way by which the workers of a local cloud call its servers: on the port of the server, a connection that begins with
 * {@link PREFACE} carries frames instead of HTTP/2. A frame is its length (u32, little endian, without itself), the number of the
 * call (u32), and then
 *
 * - of a request: the length of the method's path (u8), the path (`/google.firestore.v1.Firestore/Commit`), the request message;
 * - of an answer: the gRPC status (u8), and the response message, or the text of the status if it is not 0. The messages of a method that
 *   answers by a stream come before it, each in a frame with {@link MORE} as its status; the answer itself is then empty;
 * - of a word about a listener, from its caller: a request without a path, and {@link END}, {@link PAUSE} or {@link RESUME} (u8). It has no answer.
 *
 * The worker's end is `packages/cairn/src/platform/clients/wire.ts`.
 */

/** Neither HTTP/2 nor any method of HTTP/1.1 begins like this. */
export const PREFACE = Buffer.from('CWIRE1\n');
/** Instead of a status: a message of a stream that continues. No status of gRPC. */
export const MORE = 255;
/** Words of a caller to a listener: end, pause, or continue. An empty word equals {@link END}. */
export const END = 0;
export const PAUSE = 1;
export const RESUME = 2;
/** Well above what any server accepts as a request. */
export const MAX_FRAME_BYTES = 64 * 1024 * 1024;
const LENGTH_BYTES = 4;

/** The frame in one piece if the payload is small: a write of its own costs more than to copy that. */
const COPIED_BYTES = 16 * 1024;

/** A head of a frame, with room for its length before it, and its payload; to be written in their order. */
export function framed(
  headBytes: number,
  payload: Uint8Array,
  fill: (head: Buffer) => void,
): readonly Uint8Array[] {
  const isCopied = payload.length <= COPIED_BYTES;
  const size = LENGTH_BYTES + headBytes;
  const whole = Buffer.allocUnsafe(isCopied ? size + payload.length : size);
  whole.writeUInt32LE(headBytes + payload.length, 0);
  fill(whole.subarray(LENGTH_BYTES));
  if (!isCopied) return [whole, payload];
  whole.set(payload, size);
  return [whole];
}

/** Assembles frames from the pieces in which they arrive. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #held = 0;
  /** Bytes without which nothing more can be read. */
  #wanted = LENGTH_BYTES;

  /** The frames that are whole now, without their lengths. @throws Error for one that is too long */
  read(piece: Buffer): Buffer[] {
    this.#pieces.push(piece);
    this.#held += piece.length;
    if (this.#held < this.#wanted) return [];
    const bytes = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces);
    const frames: Buffer[] = [];
    let at = 0;
    for (;;) {
      this.#wanted = LENGTH_BYTES;
      if (bytes.length - at < LENGTH_BYTES) break;
      const length = bytes.readUInt32LE(at);
      if (length > MAX_FRAME_BYTES) throw new Error(`a frame of ${length} bytes was announced`);
      this.#wanted = LENGTH_BYTES + length;
      if (bytes.length - at < this.#wanted) break;
      frames.push(bytes.subarray(at + LENGTH_BYTES, at + this.#wanted));
      at += this.#wanted;
    }
    this.#pieces = at === bytes.length ? [] : [bytes.subarray(at)];
    this.#held = bytes.length - at;
    return frames;
  }
}
