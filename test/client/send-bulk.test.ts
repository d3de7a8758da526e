import { describe, expect, test } from '@jest/globals';
import {
  BULK_CHUNK,
  type BulkResult,
  Refusal,
  type Sent,
  sendBulk,
  Unreachable,
} from '../../packages/client/src/index.ts';

const RUNS = Array.from({ length: 2 * BULK_CHUNK + 3 }, (_, i) => `run_${i}`);
const done = (runId: string): BulkResult => ({ runId, outcome: 'done' });
const later = (runId: string): BulkResult =>
  ({ runId, outcome: 'retry', problem: { code: 'UNAVAILABLE', status: 503, title: 'Later' } }) as BulkResult;

interface Ran {
  readonly requests: readonly (readonly string[])[];
  readonly ends: ReadonlyMap<string, Sent<BulkResult>>;
  readonly pauses: readonly number[];
}

async function ran(
  send: (runs: readonly string[], request: number, attempt: number) => readonly BulkResult[],
  signal = new AbortController().signal,
): Promise<Ran> {
  const requests: string[][] = [];
  const ends = new Map<string, Sent<BulkResult>>();
  const pauses: number[] = [];
  await sendBulk(RUNS, {
    async send(runs, attempt) {
      requests.push([...runs]);
      return { results: [...send(runs, requests.length, attempt)] };
    },
    onSent: (run, sent) => void ends.set(run, sent),
    onPause() {},
    refusalOf: (error) => (error instanceof Refusal ? error.problem : undefined),
    sleep: async (ms) => void pauses.push(ms),
    signal,
  });
  return { requests, ends, pauses };
}

const at = ({ ends }: Ran) => RUNS.map((run) => ends.get(run)?.at);

describe('a change of many runs', () => {
  test('is sent in requests of a few runs, each run once', async () => {
    const one = await ran((runs) => runs.map(done));
    expect(one.requests.map((runs) => runs.length).sort((a, b) => b - a)).toEqual([
      BULK_CHUNK,
      BULK_CHUNK,
      3,
    ]);
    expect(one.requests.flat().sort()).toEqual([...RUNS].sort());
    expect(new Set(at(one))).toEqual(new Set(['done']));
  });

  test('repeats only runs without an outcome, after a pause', async () => {
    const seen = new Map<string, number>();
    const one = await ran((runs) =>
      runs.map((run) => {
        seen.set(run, (seen.get(run) ?? 0) + 1);
        return run === 'run_3' && seen.get(run) === 1 ? later(run) : done(run);
      }),
    );
    expect(one.requests).toContainEqual(['run_3']);
    expect(one.pauses).toHaveLength(1);
    expect([...seen].filter(([, times]) => times > 1)).toEqual([['run_3', 2]]);
    expect(new Set(at(one))).toEqual(new Set(['done']));
  });

  test('gives up on a run that never has an outcome, and continues with the others', async () => {
    const one = await ran((runs) => runs.map((run) => (run === 'run_3' ? later(run) : done(run))));
    const { ends } = one;
    const end = ends.get('run_3');
    expect(end?.at === 'failed' && end.error).toMatchObject({ problem: { code: 'UNAVAILABLE' } });
    expect(at(one).filter((where) => where === 'failed')).toHaveLength(1);
    expect(one.requests.filter((runs) => runs.includes('run_3'))).toHaveLength(4);
  });

  test('repeats a request whose worker died once the lock of its key expires', async () => {
    const attempts: number[] = [];
    const one = await ran((runs, _request, attempt) => {
      if (!runs.includes('run_0')) return runs.map(done);
      attempts.push(attempt);
      // As an error of the client, and as one of the console.
      if (attempt === 1) throw new Unreachable('the same request is in progress', 'k', undefined, 202);
      if (attempt === 2)
        throw new Refusal({ status: 202, code: 'IN_FLIGHT', title: 'In progress' }, undefined);
      return runs.map((run) => (run === 'run_4' && attempt === 3 ? later(run) : done(run)));
    });
    expect(attempts).toEqual([1, 2, 3]);
    expect(at(one).filter((where) => where === 'done')).toHaveLength(RUNS.length);
    expect(one.pauses).toHaveLength(3);
  });

  test('continues to count its attempts after a rate limit, so that no key is used twice', async () => {
    const attempts: number[] = [];
    const one = await ran((runs, _request, attempt) => {
      if (!runs.includes('run_3')) return runs.map(done);
      attempts.push(attempt);
      if (attempts.length === 3)
        throw new Refusal({ status: 429, code: 'RATE_LIMITED', title: 'Later' }, undefined);
      return runs.map((run) => (run === 'run_3' ? later(run) : done(run)));
    });
    expect(attempts).toEqual([1, 2, 3, 3, 4]);
    expect(one.ends.get('run_3')?.at).toBe('failed');
  });

  test('stops repeating such a request, or one without a response, after a limit', async () => {
    for (const status of [0, 202] as const) {
      let requestCount = 0;
      const one = await ran((runs) => {
        if (runs.includes('run_0')) {
          requestCount += 1;
          throw new Unreachable('no outcome', 'k', undefined, status);
        }
        return runs.map(done);
      });
      expect(requestCount).toBe(status === 0 ? 1 : 4);
      expect(at(one).filter((where) => where === 'failed')).toHaveLength(BULK_CHUNK);
    }
  });

  test('fails the runs of a refused request only, and waits out a rate limit', async () => {
    let limited = false;
    const problem = (status: number, code: string) => new Refusal({ status, code, title: code }, undefined);
    const one = await ran((runs) => {
      if (runs.includes('run_0')) throw problem(403, 'FORBIDDEN');
      if (runs.includes('run_10') && !limited) {
        limited = true;
        throw problem(429, 'RATE_LIMITED');
      }
      return runs.map(done);
    });
    expect(at(one)).toEqual(RUNS.map((_, i) => (i < BULK_CHUNK ? 'failed' : 'done')));
    expect(one.pauses).toHaveLength(1);
  });

  test('treats an answer for fewer runs than were sent as a failure', async () => {
    const one = await ran((runs) => runs.slice(1).map(done));
    expect(new Set(at(one))).toEqual(new Set(['failed']));
  });

  test('sends no further request after a stop', async () => {
    const stop = new AbortController();
    stop.abort();
    expect((await ran((runs) => runs.map(done), stop.signal)).requests).toEqual([]);
  });
});
