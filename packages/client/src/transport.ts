/** Dependencies of the client on its platform, and their defaults. */

/** The members of a `Response` that are read. */
export interface Reply {
  readonly status: number;
  readonly headers: Pick<Headers, 'get'>;
  readonly body: ReadableStream<Uint8Array> | null;
  text(): Promise<string>;
}

/** `fetch` or a replacement. */
export type Fetch = (url: string, init: RequestInit) => Promise<Reply>;

export interface MachineServices {
  readonly fetch: Fetch;
  /** Epoch ms. */
  now(): number;
  /** An idempotency key that was never used. */
  newKey(): string;
  /** Ends early, without an error, when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Defaults for Node, a browser, or another runtime with the web standards. */
export const THIS_MACHINE: MachineServices = {
  fetch: (url, init) => fetch(url, init),
  now: Date.now,
  newKey: randomKey,
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done);
    }),
};

/** A unique key of 128 random bits. Browsers have `crypto.randomUUID` only with HTTPS or on localhost. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
