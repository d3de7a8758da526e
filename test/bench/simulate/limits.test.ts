import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { UsageError } from '../../../bench/arguments.ts';
import { readArguments } from '../../../bench/simulate/arguments.ts';
import { LIMITS, PRICES } from '../../../bench/simulate/limits.ts';
import { usdOf } from '../../../packages/cairn/src/core/cost/prices.ts';
import { SHARD_COUNT } from '../../../packages/cairn/src/core/encoding/ids.ts';
import {
  driveConcurrency,
  driveMaxInstances,
  driveQueuePlaces,
  driveQueues,
  driveQueuesPerTenant,
  publicMaxInstances,
} from '../../../packages/cairn/src/platform/settings/parameters.ts';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

describe('the simulator assumes what is deployed:', () => {
  test('parameters and shards', () => {
    expect(LIMITS.driveConcurrency.value).toBe(driveConcurrency.default);
    expect(LIMITS.driveInstances.value).toBe(driveMaxInstances.default);
    expect(LIMITS.apiInstances.value).toBe(publicMaxInstances.default);
    expect(LIMITS.queues.value).toBe(driveQueues.default);
    expect(LIMITS.queuesPerTenant.value).toBe(driveQueuesPerTenant.default);
    expect(LIMITS.queueConcurrent.value).toBe(driveQueuePlaces.default);
    expect(LIMITS.shards.value).toBe(SHARD_COUNT);
  });

  test('the limits of the queue', () => {
    const deployed = read(LIMITS.minBackoffMs.source).replaceAll('_', '');
    expect(deployed).toContain(`const DISPATCHESPERSECOND = ${LIMITS.queueDispatches.value};`);
    expect(deployed).toContain(
      `minBackoffSeconds: ${LIMITS.minBackoffMs.value / 1000}, maxBackoffSeconds: ${LIMITS.maxBackoffMs.value / 1000}`,
    );
  });

  test('indexes of growing values that begin with a shard', () => {
    const { indexes } = JSON.parse(read('firestore.indexes.json')) as {
      indexes: { collectionGroup: string; fields: { fieldPath: string }[] }[];
    };
    /** `nextAt` grows only as schedules fire, what a run did outside lies beside the run's id, and people ask for erasures. */
    const apart = [
      'gwi_schedules: state, nextAt',
      'gwi_effects: runId, createdAt',
      'gwi_erasures: scope, requestedAt',
      'gwi_erasures: tenantHash, requestedAt',
    ];
    const bare = indexes
      .map(({ collectionGroup, fields }) => ({ collectionGroup, names: fields.map((f) => f.fieldPath) }))
      .filter(
        ({ names }) =>
          /At$/.test(names.at(-1) ?? '') && !names.some((name) => /^(shard|tenantId)$/.test(name)),
      )
      .map(({ collectionGroup, names }) => `${collectionGroup}: ${names.join(', ')}`);
    expect(bare.sort()).toEqual(apart.sort());
  });
});

test('a queue has the limits of the Cloud Tasks interface', () => {
  const proto = read(LIMITS.queueConcurrentMost.source);
  expect(proto).toMatch(/maximum allowed value is 5,000[^;]*int32 max_concurrent_dispatches/);
  expect(proto).toMatch(/maximum allowed value is 500\.[^;]*double max_dispatches_per_second/);
  expect([LIMITS.queueConcurrentMost.value, LIMITS.queueDispatches.value]).toEqual([5_000, 500]);
});

test('prices are those that runs are shown with', () => {
  const nothing = { reads: 0, writes: 0, deletes: 0, tasks: 0 };
  const million = 1_000_000;
  expect(usdOf({ ...nothing, reads: million })).toBeCloseTo(million * PRICES.regionalRead.value);
  expect(usdOf({ ...nothing, writes: million })).toBeCloseTo(million * PRICES.regionalWrite.value);
  expect(usdOf({ ...nothing, deletes: million })).toBeCloseTo(million * PRICES.regionalDelete.value);
  expect(usdOf({ ...nothing, tasks: million })).toBeCloseTo(million * 2 * PRICES.taskOperation.value);
});

test('every figure marked as documented has an address or a file', () => {
  const documented = Object.values({ ...LIMITS, ...PRICES }).filter(({ basis }) => basis === 'documented');
  expect(documented.length).toBeGreaterThan(15);
  for (const { source } of documented) expect(source).toMatch(/^(https:\/\/|node_modules\/)/);
});

describe('arguments', () => {
  test('default to an installation as it is deployed', () => {
    const { plan, traffic } = readArguments([]);
    expect(plan).toMatchObject({
      rate: 100,
      tenants: 20,
      queues: 1,
      queuesPerTenant: 2,
      queueConcurrent: 2_000,
      warm: undefined,
    });
    expect(traffic).toEqual({ steps: 10, bodyMs: 0, parallel: false });
  });

  test('take times with a unit', () => {
    const { plan, traffic } = readArguments(['--body', '1.5s', '--for', '2m', '--rest', '0']);
    expect([traffic.bodyMs, plan.forMs, plan.restMs]).toEqual([1_500, 120_000, 0]);
  });

  test.each([
    { words: '--rate 0', says: '--rate' },
    { words: '--rate much', says: '--rate' },
    { words: '--body 15', says: '--body' },
    { words: '--body 10m', says: '--body' },
    { words: '--steps 1.5', says: '--steps' },
    { words: '--queues 401', says: '--queues' },
    { words: '--queues-per-tenant -1', says: '--queues-per-tenant' },
    { words: '--queue-places 5001', says: '5000' },
    { words: '--location eur3', says: '--location' },
    { words: '--rate 100000 --for 1h', says: 'runs' },
    { words: '--lost 2', says: '--lost' },
    { words: '--nothing', says: '--nothing' },
  ])('$words is refused, naming what is wrong', ({ words, says }) => {
    expect(() => readArguments(words.split(' '))).toThrow(UsageError);
    expect(() => readArguments(words.split(' '))).toThrow(says);
  });
});
