import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  MAX_QUEUES,
  type QueueSpread,
  queueName,
  queuePlace,
} from '../../../packages/cairn/src/core/encoding/queue-place.ts';

const queues = fc.integer({ min: 1, max: MAX_QUEUES });
const perTenant = fc.integer({ min: 0, max: 6 });
const task = fc.record({ runId: fc.string(), tenantId: fc.option(fc.string(), { nil: undefined }) });

/** Places of many runs of a tenant. */
const placesOf = (spread: QueueSpread, tenantId: string) =>
  new Set(Array.from({ length: 100 }, (_, run) => queuePlace(spread, { runId: `run ${run}`, tenantId })));

describe('the queue of a task', () => {
  test('exists, and never changes', () => {
    fc.assert(
      fc.property(queues, perTenant, task, (count, own, one) => {
        const place = queuePlace({ queues: count, perTenant: own }, one);
        expect(place).toBe(queuePlace({ queues: count, perTenant: own }, { ...one }));
        expect(Number.isInteger(place) && place >= 0 && place < count).toBe(true);
      }),
    );
  });

  test('is one of the queues of its tenant, all of which are used', () => {
    fc.assert(
      fc.property(queues, fc.integer({ min: 1, max: 6 }), fc.string(), (count, own, tenantId) => {
        expect(placesOf({ queues: count, perTenant: own }, tenantId).size).toBe(Math.min(count, own));
      }),
      { numRuns: 30 },
    );
  });

  test('is unchanged when a queue is added, unless it moves to the new one or another of the tenant', () => {
    fc.assert(
      fc.property(queues, perTenant, fc.string(), (count, own, tenantId) => {
        const before = placesOf({ queues: count, perTenant: own }, tenantId);
        const after = placesOf({ queues: count + 1, perTenant: own }, tenantId);
        expect([...after].filter((place) => !before.has(place) && place !== count)).toEqual([]);
      }),
      { numRuns: 30 },
    );
  });

  test('of a tenant with all queues moves to the new one or not at all', () => {
    fc.assert(
      fc.property(queues, task, (count, one) => {
        const before = queuePlace({ queues: count, perTenant: 0 }, one);
        expect([before, count]).toContain(queuePlace({ queues: count + 1, perTenant: 0 }, one));
      }),
    );
  });

  test.each([
    ['runs of one tenant', (at: number) => ({ runId: `run ${at}`, tenantId: 'one' }), 0],
    ['runs of many tenants', (at: number) => ({ runId: `run ${at}`, tenantId: `tenant ${at}` }), 2],
    ['runs of nobody known', (at: number) => ({ runId: `run ${at}` }), 2],
  ])('%s are spread evenly', (_, made, own) => {
    const counts = new Array<number>(16).fill(0);
    for (let at = 0; at < 16_000; at += 1) {
      const place = queuePlace({ queues: 16, perTenant: own }, made(at));
      counts[place] = (counts[place] ?? 0) + 1;
    }
    expect(Math.min(...counts)).toBeGreaterThan(800);
    expect(Math.max(...counts)).toBeLessThan(1_200);
  });

  test('of two tenants is rarely the same', () => {
    const spread = { queues: 100, perTenant: 2 };
    const flooding = placesOf(spread, 'flooding');
    const others = Array.from({ length: 500 }, (_, at) => placesOf(spread, `tenant ${at}`));
    const sharing = others.filter((own) => !own.isDisjointFrom(flooding));
    expect(sharing.length).toBeLessThan(40);
    expect(others.filter((own) => own.isSubsetOf(flooding)).length).toBeLessThan(5);
  });

  test('the first has the name of the function', () => {
    expect([0, 1, 99].map((place) => queueName('cairn-drive', place))).toEqual([
      'cairn-drive',
      'cairn-drive-2',
      'cairn-drive-100',
    ]);
  });
});
