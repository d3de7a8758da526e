/**
 * Fast protocol by which workers of a local cloud call its servers. On the port of a server, a connection that begins with
 * {@link PREFACE} carries frames instead of HTTP/2. A frame consists of the length of the rest (u32, little endian), the number of the
 * call (u32), and then
 *
 * - for a request: the length of the method's path (u8), the path (`/google.firestore.v1.Firestore/Commit`), the request message;
 * - for an answer: the gRPC status (u8), and the response message, or the text of a status other than 0. A method with a stream of answers
 *   first sends its messages, each in a frame with the status {@link MORE}; the final answer is then empty;
 * - for a word from a caller about its listener: an empty path, and {@link END}, {@link PAUSE} or {@link RESUME} (u8). It has no answer.
 *
 * The client of workers is `packages/cairn/src/platform/clients/wire.ts`.
 */

/** Differs from the beginning of HTTP/2 and of every method of HTTP/1.1. */
export const PREFACE = Buffer.from('CWIRE1\n');
/** Pseudo status of a stream message that is not the last; not a gRPC status. */
export const MORE = 255;
/** Words of a caller about its listener: end, pause or continue. An empty word equals {@link END}. */
export const END = 0;
export const PAUSE = 1;
export const RESUME = 2;
/** Well above the request limit of every server. */
export const MAX_FRAME_BYTES = 64 * 1024 * 1024;
const LENGTH_BYTES = 4;

/** Payloads up to this size are copied into the frame, because copying costs less than a separate write. */
const COPIED_BYTES = 16 * 1024;

/** The pieces of a frame, in order. @param fill writes the head, without the length */
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
  /** Number of bytes needed before anything more can be read. */
  #wanted = LENGTH_BYTES;

  /** Returns the frames that are now complete, without their lengths. @throws Error for a frame that is too long */
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
