import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { RecentStarts } from '../../packages/cairn/src/operations/start/recent-starts.ts';
import type { StartDeps, StartRequest } from '../../packages/cairn/src/operations/start/request.ts';
import { startRun } from '../../packages/cairn/src/operations/start/start-run.ts';
import { plainStart, World } from '../support/world.ts';

const echo = defineWorkflow({
  type: 'echo',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({ said: step('say', () => 'hello') }),
});

let world: World;
let deps: StartDeps;
let calls: string[];

beforeEach(() => {
  world = new World({ workflows: [echo] });
  calls = [];
  const records = {
    read: (key: string) => {
      calls.push('read');
      return world.records.read(key);
    },
    create: world.records.create.bind(world.records),
    replace: world.records.replace.bind(world.records),
  };
  const store = Object.assign(Object.create(world.store), {
    start: (commit: Parameters<typeof world.store.start>[0]) => {
      calls.push('start');
      return world.store.start(commit);
    },
  });
  deps = { ...world.deps, store, records, recent: new RecentStarts() };
});

function start(more: Partial<StartRequest> = {}) {
  return startRun(deps, { ...plainStart(echo, {}), key: 'api:c.dev:k', ...more });
}

describe('repetitions that reach the same instance', () => {
  test('while the first is under way need no read or write, and share its answer', async () => {
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => start()));
    expect(outcomes.filter(({ kind }) => kind === 'created')).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === 'replayed')).toHaveLength(49);
    expect(new Set(outcomes.map((outcome) => JSON.stringify({ ...outcome, kind: '' }))).size).toBe(1);
    expect(calls).toEqual(['start']);
    expect(world.queue.pending).toHaveLength(1);
  });

  test('soon after need no read or write; later ones read the record', async () => {
    const first = await start();
    world.clock.jump(59_000);
    expect(await start()).toEqual({ ...first, kind: 'replayed' });
    expect(calls).toEqual(['start']);
    world.clock.jump(2_000);
    expect(await start()).toEqual({ ...first, kind: 'replayed' });
    expect(calls).toEqual(['start', 'start', 'read']);
  });

  test.each([
    { what: 'payload', more: { requestHash: 'other' } },
    { what: 'tenant', more: { tenantId: 't2' } },
  ])('with another $what are refused by the record, not answered from memory', async ({ more }) => {
    await start();
    await expect(start(more)).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
  });

  test('do not share a failure', async () => {
    const refused = start({ input: 1 });
    const repeated = start({ input: 1 });
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(repeated).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    expect(await start()).toMatchObject({ kind: 'created' });
  });

  test('without a key are new work each time', async () => {
    const outcomes = await Promise.all([start({ key: undefined }), start({ key: undefined })]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['created', 'created']);
  });
});
