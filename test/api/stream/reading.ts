/** Reads streams of server-sent events as clients do. */
import { expect } from '@jest/globals';
import { settle, type VirtualClock } from '../../support/virtual-clock.ts';

export const HEARTBEAT_MS = 15_000;

export interface Frame {
  /** A number if the id is one. */
  readonly id?: number | string;
  readonly event?: string;
  readonly data?: Record<string, unknown>;
  readonly comment?: string;
}

/** A watchdog that never fires in a passing test, even on a slow machine: a read without a result is a defect. */
const PATIENCE_MS = 120_000;

let readers: Reading[] = [];

/** Ends all streams that were started. */
export async function cancelReadings(): Promise<void> {
  for (const reader of readers) await reader.cancel();
  readers = [];
}

/** Reads a stream frame by frame, as a client would. */
export class Reading {
  readonly answer: Response;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #text = '';

  constructor(answer: Response) {
    this.answer = answer;
    if (!answer.body) throw new Error('no body');
    this.#reader = answer.body.getReader();
    readers.push(this);
  }

  /** Undefined at the end of the stream. */
  async next(): Promise<Frame | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end >= 0) {
        const frame = parse(this.#text.slice(0, end));
        this.#text = this.#text.slice(end + 2);
        if (frame) return frame;
        continue;
      }
      const { done, value } = await withPatience(this.#reader.read());
      if (done) return undefined;
      this.#text += Buffer.from(value).toString();
    }
  }

  async rest(): Promise<Frame[]> {
    const frames: Frame[] = [];
    for (let frame = await this.next(); frame; frame = await this.next()) frames.push(frame);
    return frames;
  }

  /** Expects heartbeats only, and the end of the stream when its time is up. */
  async expectHeartbeats(clock: VirtualClock): Promise<void> {
    for (const expected of [...Array(3).fill({ comment: 'quiet' }), undefined]) {
      const next = this.next();
      await settle();
      clock.fireNext(clock.now() + HEARTBEAT_MS);
      expect(await next).toEqual(expected);
    }
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }
}

async function withPatience<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('nothing came')), PATIENCE_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Undefined for the reconnect delay. */
function parse(text: string): Frame | undefined {
  const fields = new Map(
    text.split('\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 2)] as const;
    }),
  );
  const comment = fields.get('');
  if (comment !== undefined) return { comment };
  const [id, event, data] = [fields.get('id'), fields.get('event'), fields.get('data')];
  if (event === undefined || data === undefined) return undefined;
  return {
    ...(id === undefined ? {} : { id: /^\d+$/.test(id) ? Number(id) : id }),
    event,
    data: JSON.parse(data) as never,
  };
}
