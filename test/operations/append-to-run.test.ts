import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { EventDraft } from '../../packages/cairn/src/core/run/events.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { OUTSIDE_PATIENCE_MS } from '../../packages/cairn/src/journal/append-unleased.ts';
import { RunJournal } from '../../packages/cairn/src/journal/run-journal.ts';
import { appendToRun } from '../../packages/cairn/src/operations/append-to-run.ts';
import type { RunStore } from '../../packages/cairn/src/ports/run-store.ts';
import { OutcomeUnknown } from '../../packages/cairn/src/ports/store-errors.ts';
import { intercept } from '../support/intercept.ts';
import { assertStored } from '../support/soundness.ts';
import { settle } from '../support/virtual-clock.ts';
import { World } from '../support/world.ts';

const workflow = defineWorkflow({
  type: 'only',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({ only: step('only', () => 1) }),
});

const signal = (signalId: string): EventDraft => ({
  type: 'signal_received',
  initiator: 'user',
  data: { signalId, name: 'hello', payloadText: '{}' },
});

async function worldWithRun(): Promise<{ world: World; runId: string }> {
  const world = new World({ workflows: [workflow] });
  return { world, runId: await world.start('only') };
}

/** An append by another writer. */
async function foreign(world: World, runId: string, signalId: string): Promise<void> {
  const loaded = await world.store.load(runId);
  if (!loaded) throw new Error('the run is gone');
  const journal = new RunJournal(world.deps, loaded, { leaseMs: 0, flushMs: 0, patienceMs: 0 });
  await journal.append(() => [signal(signalId)]);
}

/** A store in which another writer appends `foreign` events, each just before a commit of the caller arrives. */
function busy(world: World, runId: string, times: number): { store: RunStore; calls: Map<string, number> } {
  const calls = new Map<string, number>();
  let left = times;
  const store = intercept(world.store, async ({ method }, proceed) => {
    calls.set(method, (calls.get(method) ?? 0) + 1);
    if (method === 'commit' && left > 0) {
      left -= 1;
      await foreign(world, runId, `foreign ${left}`);
    }
    return proceed();
  });
  return { store, calls };
}

/** Advances the virtual time until the promise has settled. No real time passes. */
async function inVirtualTime<T>(world: World, work: Promise<T>): Promise<{ value: T } | { error: unknown }> {
  let end: { value: T } | { error: unknown } | undefined;
  work.then(
    (value) => {
      end = { value };
    },
    (error: unknown) => {
      end = { error };
    },
  );
  for (let turn = 0; turn < 1_000 && !end; turn += 1) {
    await settle();
    if (!end) world.clock.fireNext();
  }
  if (!end) throw new Error('it never settles');
  return end;
}

describe('an append from outside', () => {
  test('to a run of another tenant is refused with the same error as one to a missing run', async () => {
    const { world, runId } = await worldWithRun();
    const missing = `${runId.slice(0, -4)}aaaa`;
    const refusals = await Promise.all(
      [
        { runId, tenantId: 't2' },
        { runId: missing, tenantId: 't1' },
        { runId: 'no id at all', tenantId: 't1' },
      ].map((whose) =>
        appendToRun(world.deps, { ...whose, decide: () => [signal('s')] }).catch((error: unknown) => error),
      ),
    );
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ code: 'RUN_NOT_FOUND', httpStatus: 404 });
      expect({ ...(refusal as Error) }).toEqual({ ...(refusals[0] as Error) });
      expect((refusal as Error).message).toBe((refusals[0] as Error).message);
    }
    expect(assertStored(world.db, runId).head).toBe(1);
  });

  test('decides again on every newer state, and reads only the tail of the journal for it', async () => {
    const { world, runId } = await worldWithRun();
    const { store, calls } = busy(world, runId, 5);
    const heads: number[] = [];
    const work = appendToRun(
      { ...world.deps, store },
      {
        runId,
        tenantId: 't1',
        decide: (state) => {
          heads.push(state.head);
          return [signal('mine')];
        },
      },
    );
    expect(await inVirtualTime(world, work)).toMatchObject({ value: { events: [{ seq: 7 }] } });
    expect(heads).toEqual([1, 2, 3, 4, 5, 6]);
    expect(Object.fromEntries(calls)).toEqual({ load: 1, commit: 6, readEvents: 9 });
    expect(assertStored(world.db, runId).unread.at(-1)).toMatchObject({ signalId: 'mine' });
  });

  test('reads the run again after each pause: appends of a busy run use up no attempt', async () => {
    const { world, runId } = await worldWithRun();
    const { store: crowded, calls } = busy(world, runId, 2);
    // Its dispatch commits during every pause, but not between a read and the following commit.
    const clock = {
      now: () => world.clock.now(),
      timer: (delayMs: number, fire: () => void) =>
        world.clock.timer(delayMs, () => void foreign(world, runId, `at ${world.clock.now()}`).then(fire)),
    };
    const work = appendToRun(
      { ...world.deps, clock, store: crowded },
      { runId, tenantId: 't1', decide: () => [signal('mine')] },
    );
    expect(await inVirtualTime(world, work)).toMatchObject({
      value: { events: [{ type: 'signal_received' }] },
    });
    expect(calls.get('commit')).toBe(3);
  });

  test('gives up after ten seconds on a run that stays busy, and asks the caller to send it again', async () => {
    const { world, runId } = await worldWithRun();
    const { store, calls } = busy(world, runId, Number.POSITIVE_INFINITY);
    const before = world.clock.now();
    const work = appendToRun(
      { ...world.deps, store },
      { runId, tenantId: 't1', decide: () => [signal('mine')] },
    );
    expect(await inVirtualTime(world, work)).toMatchObject({
      error: { code: 'UNAVAILABLE', httpStatus: 503 },
    });
    const waited = world.clock.now() - before;
    expect(waited).toBeGreaterThanOrEqual(OUTSIDE_PATIENCE_MS);
    expect(waited).toBeLessThan(OUTSIDE_PATIENCE_MS + 1_000);
    expect(calls.get('load')).toBe(1);
    expect(calls.get('commit')).toBeGreaterThan(30);
  });

  test('whose decision refuses changes nothing and reports the refusal', async () => {
    const { world, runId } = await worldWithRun();
    const decide = () => {
      throw new RangeError('no');
    };
    await expect(appendToRun(world.deps, { runId, tenantId: 't1', decide })).rejects.toThrow(RangeError);
    expect(assertStored(world.db, runId).head).toBe(1);
  });

  test.each(['load', 'commit'])(
    'whose %s was not answered is sent again, and takes effect once',
    async (lost) => {
      const { world, runId } = await worldWithRun();
      let losses = 0;
      const store = intercept(world.store, async ({ method }, proceed) => {
        const answer = await proceed();
        if (method !== lost || losses === 3) return answer;
        losses += 1;
        throw new OutcomeUnknown(method, 'gone');
      });
      const work = appendToRun(
        { ...world.deps, store },
        { runId, tenantId: 't1', decide: () => [signal('mine')] },
      );
      expect(await inVirtualTime(world, work)).toMatchObject({ value: { events: [{ seq: 2 }] } });
      expect(losses).toBe(3);
      expect(assertStored(world.db, runId).unread).toHaveLength(1);
    },
  );
});
