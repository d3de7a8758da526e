/** An erasure that takes many ticks, or never ends, does not block the deletion of its own older runs or of other runs. */
import { describe, expect, test } from '@jest/globals';
import {
  type Erasure,
  erasureId,
  NOTHING_GONE,
  tenantHash,
} from '../../../packages/cairn/src/core/retention/erasure.ts';
import {
  CONCURRENCY,
  TICK,
  type TickBounds,
} from '../../../packages/cairn/src/operations/retention/tick-budget.ts';
import type { ErasureStore, OpenErasure } from '../../../packages/cairn/src/ports/runs/erasure-store.ts';
import type { RetentionStore } from '../../../packages/cairn/src/ports/runs/retention-store.ts';
import { UndecodableDocument } from '../../../packages/cairn/src/ports/store-errors.ts';
import { intercept } from '../../support/intercept.ts';
import { seededRandomness } from '../../support/world.ts';
import { around, DAY, type Run, Shelf, WIDE } from './shelf.ts';

function requested(
  shelf: Shelf,
  changes: Pick<Erasure, 'id' | 'scope'> & Partial<Erasure>,
): Promise<unknown> {
  return shelf.erasures.create({
    tenantHash: tenantHash(changes.tenantId ?? 'acme'),
    roots: [],
    state: 'open',
    gone: NOTHING_GONE,
    requestedAt: shelf.now,
    ...changes,
  });
}

const ofTenant = (shelf: Shelf, tenantId: string) =>
  requested(shelf, { id: erasureId(tenantId), scope: 'tenant', tenantId });

const named = (n: number, name = 'run') => `${name}_${String(n).padStart(3, '0')}`;

async function ticksUntil(shelf: Shelf, bounds: TickBounds, isDone: () => boolean): Promise<number> {
  let ticks = 0;
  for (; !isDone() && ticks < 400; ticks += 1) await shelf.tick(bounds);
  return ticks;
}

describe('an erasure of a tenant with more live runs than a tick inspects', () => {
  test('deletes its older ended runs, and is done when the live ones have ended', async () => {
    const shelf = new Shelf();
    for (let n = 0; n < 150; n += 1)
      await shelf.put({
        runId: named(n),
        at: shelf.now - n * 60_000,
        status: n < 120 ? 'running' : 'completed',
      });
    await ofTenant(shelf, 'acme');
    const bounds = { ...WIDE, runs: 40 };
    const erasure = () => [...shelf.db.erasures.values()][0]?.erasure;
    // Each round of 150 runs takes six ticks: one round marks, the next deletes.
    expect(await ticksUntil(shelf, bounds, () => shelf.db.runs.size === 120)).toBeLessThan(20);
    expect(erasure()).toMatchObject({ state: 'open', keptBy: { why: 'live' }, gone: { runs: 30 } });
    shelf.db.runs.clear();
    await ticksUntil(shelf, bounds, () => erasure()?.state === 'done');
    expect(erasure()).toMatchObject({ state: 'done' });
    expect(erasure()?.position).toBeUndefined();
  });

  test('continues the lineage at which the documents of a tick ended', async () => {
    const shelf = new Shelf();
    for (let n = 0; n < 40; n += 1)
      await shelf.put({ runId: named(n), at: shelf.now - n * 60_000, steps: 20 });
    await ofTenant(shelf, 'acme');
    const begun = new Set<string>();
    const deps = shelf.deps(
      around(shelf.store, {
        deleteUnder: async (runId, limit) => {
          begun.add(runId);
          return shelf.store.deleteUnder(runId, limit);
        },
      }),
    );
    let ticks = 0;
    for (; shelf.db.runs.size > 0 && ticks < 200; ticks += 1) {
      await shelf.tick({ ...WIDE, documents: 40 }, deps);
      // Lineages are not handled in turns: a deletion in progress is finished before the next one begins.
      expect([...begun].filter((runId) => shelf.db.runs.has(runId)).length).toBeLessThanOrEqual(CONCURRENCY);
    }
    expect(shelf.db.runs.size).toBe(0);
  });

  test('passes over a lineage that cannot be read, and stays open', async () => {
    const shelf = new Shelf();
    for (let n = 0; n < 3; n += 1) await shelf.put({ runId: named(n), at: shelf.now - n * DAY });
    await ofTenant(shelf, 'acme');
    const deps = shelf.deps(
      around(shelf.store, {
        lineage: async (rootRunId, limit) => {
          if (rootRunId === named(1)) throw new Error('of a newer version');
          return shelf.store.lineage(rootRunId, limit);
        },
      }),
    );
    for (let n = 0; n < 3; n += 1) await shelf.tick(WIDE, deps);
    expect([...shelf.db.runs.keys()]).toEqual([named(1)]);
    await ticksUntil(shelf, WIDE, () => shelf.db.runs.size === 0);
    await shelf.tick();
    expect([...shelf.db.erasures.values()][0]?.erasure.state).toBe('done');
  });
});

test('an erasure handles several lineages at once, so that a request hides as many as it can', async () => {
  const shelf = new Shelf();
  for (let n = 0; n < 30; n += 1) await shelf.put({ runId: named(n), at: shelf.now - n });
  await ofTenant(shelf, 'acme');
  let underWay = 0;
  let most = 0;
  const mark: RetentionStore['mark'] = async (...given) => {
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise((resolve) => setImmediate(resolve));
    underWay -= 1;
    return shelf.store.mark(...given);
  };
  await shelf.tick(WIDE, shelf.deps(around(shelf.store, { mark })));
  expect(most).toBe(CONCURRENCY);
  expect(shelf.marked()).toHaveLength(30);
});

test('an erasure of a run with more lineages than a tick inspects continues with those not visited yet', async () => {
  const shelf = new Shelf();
  const roots = Array.from({ length: 60 }, (_, n) => named(n));
  for (const [n, runId] of roots.entries())
    await shelf.put({ runId, status: n < 50 ? 'running' : 'completed' });
  await requested(shelf, { id: erasureId('acme', roots[0]), scope: 'lineage', roots });
  let ticks = 0;
  for (; shelf.db.runs.size > 50 && ticks < 20; ticks += 1) {
    let inspected = 0;
    const lineage: RetentionStore['lineage'] = (rootRunId, limit) => {
      inspected += 1;
      return shelf.store.lineage(rootRunId, limit);
    };
    await shelf.tick({ ...WIDE, runs: 20 }, shelf.deps(around(shelf.store, { lineage })));
    expect(inspected).toBeLessThan(20 + CONCURRENCY);
  }
  expect(shelf.db.runs.size).toBe(50);
});

test('a small part of a tick suffices for a lineage of many runs after a large one that is kept', async () => {
  const shelf = new Shelf();
  const family = async (tenantId: string, root: string, runs: number, status: NonNullable<Run['status']>) => {
    for (let n = 0; n < runs; n += 1) {
      const child = n > 0 && { rootRunId: named(0, root) };
      await shelf.put({ runId: named(n, root), tenantId, at: shelf.now - n, status, ...child });
    }
  };
  const tenants = Array.from({ length: 49 }, (_, n) => `t${n}`);
  // In the order in which a tick continues them.
  const [large = '', small = '', ...others] = tenants.toSorted((x, y) =>
    erasureId(x) < erasureId(y) ? -1 : 1,
  );
  for (let n = 0; n < CONCURRENCY; n += 1) await family(large, `live${n}`, 250, 'running');
  await family(small, 'ended', 60, 'completed');
  for (const tenantId of others) await shelf.put({ runId: `run_${tenantId}`, tenantId, status: 'running' });
  for (const tenantId of tenants) await ofTenant(shelf, tenantId);
  const left = () => [...shelf.db.runs.keys()].filter((runId) => runId.startsWith('ended')).length;
  let ticks = 0;
  for (; left() > 0 && ticks < 20; ticks += 1) await shelf.tick(TICK);
  expect(left()).toBe(0);
});

test('an erasure that cannot be read is reported, and delays no other', async () => {
  const shelf = new Shelf();
  const tenants = ['t1', 't2', 't3'].toSorted((x, y) => (erasureId(x) < erasureId(y) ? -1 : 1));
  for (const tenantId of tenants) {
    await shelf.put({ runId: `run_${tenantId}`, tenantId, at: shelf.now });
    await ofTenant(shelf, tenantId);
  }
  const damaged = erasureId(tenants[1] ?? '');
  const erasures = intercept<ErasureStore>(shelf.erasures, async ({ method }, proceed) => {
    if (method !== 'open') return proceed();
    const unreadable = new UndecodableDocument(`erasure ${damaged}: damaged`);
    const open = (await proceed()) as readonly OpenErasure[];
    return open.map((one) => (one.id === damaged ? { id: damaged, unreadable } : one));
  });
  const deps = { ...shelf.deps(), erasures };
  expect((await shelf.tick(WIDE, deps)).erasures).toMatchObject({ open: 2, failed: 1 });
  for (let n = 0; n < 3; n += 1) await shelf.tick(WIDE, deps);
  expect([...shelf.db.runs.keys()]).toEqual([`run_${tenants[1]}`]);
});

test('more open erasures than a tick continues are all continued in turn', async () => {
  const shelf = new Shelf();
  const live = Array.from({ length: 130 }, (_, n) => `t${n}`);
  for (const tenantId of live) {
    await shelf.put({ runId: `run_${tenantId}`, tenantId, status: 'running' });
    await shelf.put({ runId: `old_${tenantId}`, tenantId, at: shelf.now - DAY });
    await ofTenant(shelf, tenantId);
  }
  expect(await ticksUntil(shelf, WIDE, () => shelf.db.runs.size === live.length)).toBeLessThanOrEqual(6);
});

/** Tenants, some of which are erased. Some of their runs never end or have a hold. */
async function random(seed: number): Promise<{ readonly shelf: Shelf; readonly due: readonly string[] }> {
  const { unit } = seededRandomness(seed);
  const below = (n: number) => Math.floor(unit() * n);
  const shelf = new Shelf();
  const due: string[] = [];
  const tenants = 1 + below(58);
  for (let n = 0; n < tenants; n += 1) {
    const tenantId = `t${n}`;
    const isErased = unit() < 0.8;
    const stuck = unit();
    const runs = below(unit() < 0.1 ? 120 : 6);
    for (let m = 0; m < runs; m += 1) {
      const runId = named(m, tenantId);
      const isStuck = unit() < stuck;
      const at = shelf.now - (1 + below(200)) * DAY;
      const what: Partial<Run> = !isStuck ? {} : unit() < 0.5 ? { status: 'running' } : { isHeld: true };
      await shelf.put({ runId, tenantId, at, steps: below(4), ...what });
      if (!isStuck && (isErased || at < shelf.now - 90 * DAY)) due.push(runId);
    }
    if (isErased) await ofTenant(shelf, tenantId);
  }
  return { shelf, due };
}

test('everything due is eventually deleted, whatever else is kept and however small a tick is', async () => {
  for (let seed = 1; seed <= 5; seed += 1) {
    const { shelf, due } = await random(seed);
    const { unit } = seededRandomness(seed);
    const bounds = { ...WIDE, runs: 5 + Math.floor(unit() * 200), documents: 40 + Math.floor(unit() * 200) };
    await ticksUntil(shelf, bounds, () => due.every((runId) => !shelf.db.runs.has(runId)));
    const left = due.filter((runId) => shelf.db.runs.has(runId));
    expect({ seed, bounds, left }).toEqual({ seed, bounds, left: [] });
  }
});
