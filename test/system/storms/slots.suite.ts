/** Slots of a schedule, fired by backfills and ticks at once. Moves the clock by hours. */
import { expect, test } from '@jest/globals';
import { control } from '../../../packages/local/src/cloud-process.ts';
import { makeSchedule } from '../entry-points/sources.ts';
import { type CloudStage, eventually, tryGet } from '../support.ts';
import { KEYS, losing, REQUESTS, rested } from './storm.ts';

const HOUR_MS = 3_600_000;
/** Concurrent backfills, each of all slots. */
const BACKFILLS = REQUESTS / KEYS;

interface Backfilled {
  readonly slots: number;
  readonly started: number;
  readonly existing: number;
}

interface Fired {
  readonly idempotencyKey: string;
}

export function slots(stage: CloudStage): void {
  test(`${KEYS} slots fired by ${BACKFILLS} backfills and by ticks at once, with one acknowledgement in ten lost, make ${KEYS} runs`, async () => {
    const { ready } = stage.cloud;
    const { id, nextAt } = await makeSchedule(ready);
    const first = Date.parse(nextAt);
    const range = { from: nextAt, to: new Date(first + (KEYS - 1) * HOUR_MS).toISOString() };
    // Repeats the request after a 503, which a slow store causes.
    const backfill = (): Promise<Backfilled & { readonly status: number }> =>
      eventually('a backfill to be answered', async () => {
        const answer = await fetch(`${ready.gateway}/v1/schedules/${id}/backfill`, {
          method: 'POST',
          headers: { authorization: `Bearer ${ready.apiKey}`, 'content-type': 'application/json' },
          body: JSON.stringify(range),
        });
        const body = (await answer.json()) as Backfilled;
        return answer.status === 503 ? undefined : { status: answer.status, ...body };
      });
    const { result, lost } = await losing(ready, async () => {
      const { now } = await control<{ now: string }>(ready, 'GET', '/clock');
      // Half an hour after the last slot, so that the scheduler finds all slots due.
      const ms = first + (KEYS - 0.5) * HOUR_MS - Date.parse(now);
      await control(ready, 'POST', '/clock/advance', { ms });
      return Promise.all(Array.from({ length: BACKFILLS }, backfill));
    });
    expect(lost).toBeGreaterThan(0);
    for (const { status, slots, started, existing } of result) {
      expect([status, slots, started + existing]).toEqual([200, KEYS, KEYS]);
    }
    // Slots that the backfills did not start were started by the ticks.
    expect(result.reduce((sum, { started }) => sum + started, 0)).toBeLessThanOrEqual(KEYS);

    await eventually('the ticks to have passed', async () => {
      const schedule = await tryGet<{ slots: { fired: number } }>(ready, `/v1/schedules/${id}`);
      return schedule?.slots.fired === KEYS ? true : undefined;
    });
    const runs = await rested(ready, { query: `threadId=${id}`, rest: 'completed' });
    const slots = runs.map((run) =>
      (run as unknown as Fired).idempotencyKey.slice(`scheduler:${id}:`.length),
    );
    const hours = slots.map((slot) => (Date.parse(slot) - first) / HOUR_MS).sort((a, b) => a - b);
    expect(hours).toEqual(Array.from({ length: KEYS }, (_, i) => i));
  });
}
