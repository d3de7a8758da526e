/** One server for the tests of a file, with a client, and with calls that the client would never make. */
import { afterAll, beforeAll } from '@jest/globals';
import type { FirestoreServerOptions } from '../../../../packages/local-firestore/src/server.ts';
import { type Bench, startBench } from './client.ts';
import { RawCalls } from './raw-calls.ts';

interface RawBench extends Bench {
  readonly raw: RawCalls;
}

/** @returns an object whose members `beforeAll` sets */
export function setRawBench(options?: Partial<FirestoreServerOptions>): RawBench {
  const bench = {} as RawBench;
  beforeAll(async () => {
    const started = await startBench(options);
    Object.assign(bench, started, { raw: new RawCalls(started.server.host) });
  });
  afterAll(async () => {
    bench.raw.close();
    await bench.stop();
  });
  return bench;
}
