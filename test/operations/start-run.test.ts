import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import {
  GITHUB_SECONDARY_WINDOW_MS,
  RECORD_TTL_MS,
} from '../../packages/cairn/src/core/decisions/idempotency.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import type {
  StartDeps,
  StartRequest,
  StartResult,
} from '../../packages/cairn/src/operations/start/request.ts';
import { startRun } from '../../packages/cairn/src/operations/start/start-run.ts';
import { OutcomeUnknown } from '../../packages/cairn/src/ports/store-errors.ts';
import { intercept } from '../support/intercept.ts';
import { assertStored } from '../support/soundness.ts';
import { settle } from '../support/virtual-clock.ts';
import { seededRandomness, World } from '../support/world.ts';

const workflow = defineWorkflow({
  type: 'only',
  planVersion: 1,
  input: z.object({ n: z.number().default(1) }),
  steps: (step) => ({ only: step('only', ({ input }) => input.n) }),
});

function worldWithDeps(): { world: World; deps: StartDeps } {
  const world = new World({ workflows: [workflow] });
  return { world, deps: { ...world.deps, records: world.records } };
}

function request(changes: Partial<StartRequest> = {}): StartRequest {
  return {
    tenantId: 't1',
    environment: 'test',
    workflow,
    input: {},
    trigger: { source: 'api' },
    source: 'api',
    key: 'api:c.one:k1',
    requestHash: 'h1',
    ...changes,
  };
}

/** A GitHub delivery with its own key and the key of its content. */
function delivery(id: string, content: string, changes: Partial<StartRequest> = {}): StartRequest {
  return request({
    source: 'github_webhook',
    trigger: { source: 'webhook', webhookEventId: id },
    key: `github:${id}`,
    secondaryKey: `github2:${content}`,
    requestHash: content,
    ...changes,
  });
}

function runIdOf(outcome: StartResult): string {
  if (outcome.kind === 'in_flight') throw new Error('in flight');
  return outcome.runId;
}

function countOf(outcomes: readonly StartResult[], kind: StartResult['kind']): number {
  return outcomes.filter((outcome) => outcome.kind === kind).length;
}

describe('200 concurrent starts with one key', () => {
  test.each(['in the order they came', 'the other way round'])(
    'create one run, answered %s',
    async (order) => {
      const { world, deps } = worldWithDeps();
      // Every start has decided its writes before the first of them is applied.
      const held: (() => void)[] = [];
      const store = intercept(world.store, async ({ method }, proceed) => {
        if (method === 'start') await new Promise<void>((resolve) => held.push(resolve));
        return proceed();
      });
      const starts = Array.from({ length: 200 }, (_, i) =>
        startRun({ ...deps, store, random: seededRandomness(i + 10) }, request()),
      );
      await settle();
      expect(held).toHaveLength(200);
      for (const go of order === 'the other way round' ? held.reverse() : held) go();
      const outcomes = await Promise.all(starts);
      expect(countOf(outcomes, 'created')).toBe(1);
      expect(countOf(outcomes, 'replayed')).toBe(199);
      expect(new Set(outcomes.map(runIdOf)).size).toBe(1);
      expect(
        new Set(outcomes.map((outcome) => JSON.stringify('response' in outcome && outcome.response))).size,
      ).toBe(1);
      expect(world.db.runs.size).toBe(1);
      expect(world.queue.pending).toHaveLength(1);
      assertStored(world.db, outcomes.map(runIdOf)[0] ?? '');
    },
  );
});

describe('a start', () => {
  test('without a key is new work every time', async () => {
    const { world, deps } = worldWithDeps();
    await Promise.all([1, 2, 3].map(() => startRun(deps, request({ key: undefined }))));
    expect(world.db.runs.size).toBe(3);
    expect(world.db.records.size).toBe(0);
  });

  test('with the key of an expired record is new work, also for many at once', async () => {
    const { world, deps } = worldWithDeps();
    const first = await startRun(deps, request());
    world.clock.jump(RECORD_TTL_MS - 1);
    expect((await startRun(deps, request())).kind).toBe('replayed');
    world.clock.jump(1);
    const again = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        startRun({ ...deps, random: seededRandomness(i + 10) }, request()),
      ),
    );
    expect(countOf(again, 'created')).toBe(1);
    expect(new Set(again.map(runIdOf)).size).toBe(1);
    expect(again.map(runIdOf)).not.toContain(runIdOf(first));
    expect(world.db.runs.size).toBe(2);
  });

  test('with a key of another request or another tenant is refused with the same error', async () => {
    const { world, deps } = worldWithDeps();
    await startRun(deps, request());
    const refusals = await Promise.all(
      [request({ requestHash: 'h2' }), request({ tenantId: 't2' })].map((other) =>
        startRun(deps, other).then(
          () => undefined,
          (error: unknown) => error,
        ),
      ),
    );
    const [conflict, foreign] = refusals;
    expect(conflict).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED', httpStatus: 422 });
    expect(JSON.stringify(foreign)).toBe(JSON.stringify(conflict));
    expect((foreign as Error).message).toBe((conflict as Error).message);
    // Also after it has expired, because another error would reveal that it existed.
    world.clock.jump(RECORD_TTL_MS);
    await expect(startRun(deps, request({ tenantId: 't2' }))).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    });
    expect(world.db.runs.size).toBe(1);
  });

  test('is durable and answered although the queue does not answer; the scan finds the run', async () => {
    const { world, deps } = worldWithDeps();
    const queue = intercept(world.queue, async () => {
      throw new OutcomeUnknown('enqueue', 'gone');
    });
    const outcome = await startRun({ ...deps, queue }, request());
    expect(outcome.kind).toBe('created');
    expect(world.queue.pending).toHaveLength(0);
    await world.run();
    expect(assertStored(world.db, runIdOf(outcome)).status).toBe('completed');
  });

  test.each([
    ['before the first request gives up the queue', 1_999, 0],
    ['after that', 2_000, 1],
    ['until the scan has looked', 119_999, 1],
    ['later', 120_000, 0],
  ] as const)('whose process died before the queue is enqueued by a repetition %s', async (_, ms, tasks) => {
    const { world, deps } = worldWithDeps();
    const lost = intercept(world.queue, () => new Promise<never>(() => {}));
    void startRun({ ...deps, queue: lost }, request());
    await settle();
    world.clock.jump(ms);
    expect((await startRun(deps, request())).kind).toBe('replayed');
    expect(world.queue.pending).toHaveLength(tasks);
  });

  test('that runs is not enqueued by a repetition, and neither is one that cannot be read', async () => {
    const { world, deps } = worldWithDeps();
    await startRun(deps, request());
    await world.run();
    world.clock.jump(5_000);
    await startRun(deps, request());
    const store = intercept(world.store, async ({ method }, proceed) => {
      if (method === 'load') throw new OutcomeUnknown('load', 'gone');
      return proceed();
    });
    expect((await startRun({ ...deps, store }, request())).kind).toBe('replayed');
    expect(world.queue.pending).toHaveLength(0);
  });

  test.each(['applied', 'not applied'])(
    'whose answer was lost while it was %s is sent again, and creates one run',
    async (how) => {
      const { world, deps } = worldWithDeps();
      let sendings = 0;
      const store = intercept(world.store, async ({ method }, proceed) => {
        if (method !== 'start') return proceed();
        sendings += 1;
        if (sendings > 1) return proceed();
        if (how === 'applied') await proceed();
        throw new OutcomeUnknown('start', 'gone');
      });
      const starting = startRun({ ...deps, store }, request());
      await settle();
      world.clock.fireNext();
      expect((await starting).kind).toBe('created');
      expect(sendings).toBe(2);
      expect(world.db.runs.size).toBe(1);
      expect(world.queue.pending).toHaveLength(1);
    },
  );

  test('that gets no answer from the store gives up, and must be sent again', async () => {
    const { world, deps } = worldWithDeps();
    const store = intercept(world.store, async ({ method }, proceed) => {
      if (method === 'start') throw new OutcomeUnknown('start', 'gone');
      return proceed();
    });
    const starting = startRun({ ...deps, store }, request()).catch((error: unknown) => error);
    for (let i = 0; i < 10; i += 1) {
      await settle();
      world.clock.fireNext();
    }
    expect(await starting).toMatchObject({ code: 'UNAVAILABLE' });
    expect(world.db.runs.size).toBe(0);
  });

  test('refuses input that its workflow does not accept, and writes nothing', async () => {
    const { world, deps } = worldWithDeps();
    await expect(startRun(deps, request({ input: { n: 'one' } }))).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      field: 'input.n',
    });
    expect(world.db.runs.size + world.db.records.size).toBe(0);
  });
});

describe('the second key of a delivery', () => {
  test('makes one run of the same content within its window', async () => {
    const { world, deps } = worldWithDeps();
    const first = await startRun(deps, delivery('d1', 'push-1'));
    world.clock.jump(GITHUB_SECONDARY_WINDOW_MS - 1);
    const second = await startRun(deps, delivery('d2', 'push-1'));
    expect(second).toMatchObject({ kind: 'replayed', runId: runIdOf(first) });
    expect(world.db.runs.size).toBe(1);
  });

  test('still answers the redelivery of the second delivery', async () => {
    const { world, deps } = worldWithDeps();
    const first = await startRun(deps, delivery('d1', 'push-1'));
    await startRun(deps, delivery('d2', 'push-1'));
    world.clock.jump(60_000);
    expect(await startRun(deps, delivery('d2', 'push-1'))).toMatchObject({
      kind: 'replayed',
      runId: runIdOf(first),
    });
    expect(world.db.runs.size).toBe(1);
  });

  test('makes a second run of the same content after its window, and of other content at once', async () => {
    const { world, deps } = worldWithDeps();
    await startRun(deps, delivery('d1', 'push-1'));
    expect((await startRun(deps, delivery('d2', 'push-2'))).kind).toBe('created');
    world.clock.jump(GITHUB_SECONDARY_WINDOW_MS);
    expect((await startRun(deps, delivery('d3', 'push-1'))).kind).toBe('created');
    expect(world.db.runs.size).toBe(3);
  });

  test('makes one run of many concurrent deliveries', async () => {
    const { world, deps } = worldWithDeps();
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        startRun({ ...deps, random: seededRandomness(i + 10) }, delivery(`d${i % 10}`, 'push-1')),
      ),
    );
    expect(countOf(outcomes, 'created')).toBe(1);
    expect(new Set(outcomes.map(runIdOf)).size).toBe(1);
    // From now on every delivery has its own record.
    expect(world.db.records.size).toBe(11);
  });

  test('of another tenant is not reused', async () => {
    const { world, deps } = worldWithDeps();
    await startRun(deps, delivery('d1', 'push-1'));
    const other = await startRun(deps, delivery('d2', 'push-1', { tenantId: 't2' }));
    expect(other.kind).toBe('created');
    expect(world.db.runs.size).toBe(2);
  });

  test('answers its delivery although the answer of the store to its record was lost', async () => {
    const { world, deps } = worldWithDeps();
    await startRun(deps, delivery('d1', 'push-1'));
    let lost = 0;
    const records = intercept(world.records, async ({ method }, proceed) => {
      if (method === 'create' && lost === 0) {
        lost += 1;
        throw new OutcomeUnknown('create', 'gone');
      }
      return proceed();
    });
    const again = startRun({ ...deps, records }, delivery('d2', 'push-1'));
    await settle();
    world.clock.fireNext();
    expect((await again).kind).toBe('replayed');
    expect(world.db.records.has('github:d2')).toBe(true);
  });
});
