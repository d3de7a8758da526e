/** Concurrent repetitions of the same requests, from every source. */
import { describe, expect, test } from '@jest/globals';
import type { Ready } from '../../../packages/local/src/cloud-process.ts';
import { inspectJournal } from '../../../scripts/demo/journal.ts';
import { type Answered, SOURCES, type Source, triggersOf } from '../entry-points/sources.ts';
import { type CloudStage, eventually } from '../support.ts';
import { KEYS, losing, REQUESTS, rested, storm } from './storm.ts';

const UNAVAILABLE = 503;

const TABLE: readonly { readonly name: string; readonly of: (ready: Ready) => Promise<Source> }[] = [
  ...SOURCES.map((source) => ({ name: source.name, of: async () => source })),
  { name: 'a schedule triggered by hand', of: triggersOf },
];

export function duplicates(stage: CloudStage): void {
  describe(`${REQUESTS} requests at once over ${KEYS} keys, with one acknowledgement in ten lost`, () => {
    test.each(TABLE)('from $name make one run for each key, with consistent responses', async ({ of }) => {
      const { ready } = stage.cloud;
      const source = await of(ready);
      const { result, lost } = await losing(ready, () => storm(ready, source));
      // Without a lost acknowledgement the test proves nothing.
      expect(lost).toBeGreaterThan(0);

      const runIds: string[] = [];
      for (const [key, answers] of result) {
        const named = answers.filter(({ runId }) => runId !== undefined);
        const [runId, ...others] = new Set(named.map((answer) => answer.runId));
        expect(others).toEqual([]);
        // A slow machine answers 503, also to the request that started the run.
        const inTime = answers.filter(({ status }) => status !== UNAVAILABLE);
        const made = named.filter(({ replayed }) => replayed === false);
        if (inTime.length === answers.length && named.some(({ replayed }) => replayed !== undefined))
          expect(made).toHaveLength(1);
        expect(made.length).toBeLessThanOrEqual(1);
        const statuses = inTime.map((answer) => [answer.status, expectedOf(source, answer)]);
        expect(statuses.filter(([status, expected]) => status !== expected)).toEqual([]);
        // Later requests never meet an undecided start.
        const afterwards = await eventually('an answer in time', async () => {
          const answer = await source.send(ready, key);
          return answer.status === UNAVAILABLE ? undefined : answer;
        });
        const { runId: itsRun = 'none' } = afterwards;
        // If no earlier answer came in time, this is the first that names the run.
        expect(afterwards.status).toBe(runId === undefined ? expectedOf(source, afterwards) : source.again);
        expect(itsRun).toBe(runId ?? itsRun);
        runIds.push(itsRun);
      }
      expect(new Set(runIds).size).toBe(KEYS);
      const runs = await rested(ready, source);
      expect(runs.map(({ id }) => id).sort()).toEqual(runIds.sort());
      expect((await inspectJournal(ready, runIds[0] ?? '')).intact).toBe(true);
    });
  });
}

function expectedOf({ early, made, again }: Source, { runId, replayed }: Answered) {
  if (runId === undefined) return early;
  return replayed === false ? made : again;
}
