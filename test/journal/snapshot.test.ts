import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { wakeAt } from '../../packages/cairn/src/core/run/wake.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import type { EngineDeps } from '../../packages/cairn/src/engine/deps.ts';
import { RunJournal } from '../../packages/cairn/src/journal/run-journal.ts';
import { pause } from '../../packages/cairn/src/ports/clock.ts';
import type { JournalCommit } from '../../packages/cairn/src/ports/run-store.ts';
import { bySystem, opened, waitOf } from '../core/run/journal-drafts.ts';
import { intercept } from '../support/intercept.ts';
import { assertSnapshot, assertStored } from '../support/soundness.ts';
import { World } from '../support/world.ts';

const STEP_MS = 40;
const CHAIN = 1_000;

/** Steps in a row that each take some time and return about 200 bytes. */
function chain(world: () => World) {
  return defineWorkflow({
    type: 'chain',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const body = async () => {
        await pause(world().clock, STEP_MS);
        return 'x'.repeat(200);
      };
      let last = step('step-0001', body);
      for (let i = 2; i <= CHAIN; i += 1) {
        last = step(`step-${String(i).padStart(4, '0')}`, { needs: { last } }, body);
      }
      return { last };
    },
  });
}

interface Write {
  readonly at: number;
  readonly snapshot: boolean;
  readonly commit?: JournalCommit;
}

/** All numbers count alike, however many digits they have, as in the store. */
function bytesOf(value: unknown): number {
  return JSON.stringify(value, (_, member) => (typeof member === 'number' ? 10_000_000 : member)).length;
}

describe('a run of 1,000 steps', () => {
  async function runChain() {
    const world: World = new World({ workflows: [chain(() => world)] });
    const writes: Write[] = [];
    const reads: { method: string; head: number }[] = [];
    const runId = await world.start('chain');
    const stored = () => {
      const run = world.db.runs.get(runId);
      if (!run) throw new Error('no run');
      return run;
    };
    const store = intercept(world.store, async ({ method, args }, proceed) => {
      const answer = await proceed();
      if (method === 'commit' || method === 'touch') {
        const commit = args[0] as JournalCommit;
        const snapshot = commit.snapshot !== undefined;
        writes.push({ at: world.clock.now(), snapshot, ...(method === 'commit' ? { commit } : {}) });
        assertSnapshot(stored());
      } else reads.push({ method, head: stored().events.length });
      return answer;
    });
    const deps: EngineDeps = { ...world.deps, store };
    await world.run(undefined, deps);
    return { world, runId, writes, reads };
  }

  test('writes its snapshot at most ten times in any ten seconds, and lets it lag only where it may', async () => {
    const { world, runId, writes } = await runChain();
    expect(assertStored(world.db, runId).status).toBe('completed');
    const times = writes.filter(({ snapshot }) => snapshot).map(({ at }) => at);
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(CHAIN * STEP_MS);
    // The snapshot is written at most a flush and a heartbeat after the previous one.
    const gaps = times.slice(1).map((at, i) => at - (times[i] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(world.deps.settings.flushMs + STEP_MS);
    const most = Math.max(
      ...times.map((from) => times.filter((at) => at >= from && at < from + 10_000).length),
    );
    expect(most).toBeLessThanOrEqual(10);
  });

  test('costs the same for step 1,000 as for step 10: one commit of three documents, no read, the same bytes', async () => {
    const { writes, reads } = await runChain();
    const costOf = (step: string) => {
      const own = writes.filter(({ commit }) =>
        commit?.events.some((event) => event.type === 'step_succeeded' && event.data.stepId === step),
      );
      return own.map(({ commit }) => ({
        documents:
          (commit?.events.length ?? 0) + (commit?.checkpoints.length ?? 0) + (commit?.steps.length ?? 0),
        bytes: bytesOf([commit?.events, commit?.checkpoints, commit?.steps]),
      }));
    };
    const tenth = costOf('step-0010');
    expect(tenth).toHaveLength(1);
    expect(tenth[0]?.documents).toBe(3);
    expect(costOf('step-0999')).toEqual(tenth);
    // The last one shares its commit with the end of the run.
    expect(costOf('step-1000')).toHaveLength(1);
    const during = reads.filter(({ head }) => head > 3 && head < CHAIN);
    expect(during).toEqual([]);
  });
});

const onlyStep = defineWorkflow({
  type: 'only',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({ only: step('only', () => 1) }),
});

describe('a snapshot write without an event (J9)', () => {
  async function holder() {
    const world = new World({ workflows: [onlyStep] });
    const runId = await world.start('only');
    const { settings } = world.deps;
    const open = async (owner?: string) => {
      const loaded = await world.store.load(runId);
      if (!loaded) throw new Error('no run');
      return new RunJournal(world.deps, loaded, { ...settings, ...(owner === undefined ? {} : { owner }) });
    };
    const journal = await open('holder');
    const expiresAt = world.clock.now() + settings.leaseMs;
    await journal.append(() => [
      bySystem('run_claimed', { owner: 'holder', epoch: 1, expiresAt }),
      bySystem('run_started', {}),
    ]);
    const stored = () => {
      const run = world.db.runs.get(runId);
      if (!run) throw new Error('no run');
      return run;
    };
    return { world, runId, journal, open, stored };
  }

  const signal = {
    type: 'signal_received',
    initiator: 'user',
    data: { signalId: 's', name: 'n', payloadText: '1' },
  } as const;

  test('extends the lease, and is a heartbeat at the time of the store', async () => {
    const { world, journal, stored } = await holder();
    world.clock.jump(3_000);
    await journal.touch();
    const now = world.clock.now();
    expect(stored().metadata).toEqual({
      cost: { writes: 2 },
      lastHeartbeatAt: now,
      leaseExtendedTo: now + world.deps.settings.leaseMs,
    });
    expect(stored().wakeAt).toBe(now + world.deps.settings.leaseMs);
    assertSnapshot(stored());
  });

  test('reads and writes again when the scan wrote the snapshot meanwhile', async () => {
    const { world, runId, journal, stored } = await holder();
    const { version } = stored();
    await world.store.touch({ runId, seen: version, wakeAt: world.clock.now() + 60_000 });
    world.clock.jump(1_000);
    await journal.touch();
    expect(stored().metadata.lastHeartbeatAt).toBe(world.clock.now());
    // A run deferred by the scan is due again when the lease ends.
    expect(stored().wakeAt).toBe(wakeAt(journal.state, stored().metadata));
  });

  test('is not made after the lease was released, because others may have written since', async () => {
    const { world, runId, journal, stored } = await holder();
    const error = { code: 'X', message: 'x', retryable: false };
    await journal.append(() => [{ type: 'run_failed', initiator: 'system', data: { error } }]);
    const met = { heartbeat: false, dutiesMet: true } as const;
    await world.store.touch({ runId, seen: stored().version, metadata: met });
    const { version } = stored();
    await journal.touch();
    expect(stored()).toMatchObject({ version, wakeAt: undefined });
  });

  test('includes what others appended, and never writes an earlier head', async () => {
    const { journal, open, stored } = await holder();
    await (await open()).append(() => [signal]);
    expect(stored().snapshot.head).toBe(3);
    await journal.refresh();
    expect(journal.lagging).toBe(true);
    await journal.touch();
    expect(journal.lagging).toBe(false);
    expect(stored().snapshot.head).toBe(4);
    expect(stored().snapshot.unread).toHaveLength(1);
    assertSnapshot(stored());
  });

  test('keeps a foreign append that wrote the snapshot itself', async () => {
    const { journal, open, stored } = await holder();
    await (await open()).append(() => [opened(waitOf('only'))]);
    expect(stored().snapshot.waits).toHaveLength(1);
    await journal.touch();
    expect(stored().snapshot.waits).toHaveLength(1);
    expect(journal.state.waits).toHaveLength(1);
    assertSnapshot(stored());
  });

  test('of a commit is due after the flush time, with the next event', async () => {
    const { world, journal, stored } = await holder();
    await journal.append(() => [signal]);
    expect(stored().snapshot.head).toBe(3);
    world.clock.jump(world.deps.settings.flushMs);
    await journal.append(() => [{ ...signal, data: { ...signal.data, signalId: 's2' } }]);
    expect(stored().snapshot.head).toBe(5);
  });

  test.each([
    ['a release', { type: 'run_released', data: { reason: 'budget', inFlight: [] } }],
    ['a suspension', { type: 'run_suspended', data: { status: 'waiting_external' } }],
    ['an end', { type: 'run_failed', data: { error: { code: 'X', message: 'x', retryable: false } } }],
  ] as const)('is never deferred at %s (J4)', async (_, draft) => {
    const { journal, stored } = await holder();
    await journal.append(() => [signal]);
    expect(stored().snapshot.head).toBe(3);
    await journal.append(() => [{ ...draft, initiator: 'system' }]);
    expect(stored().snapshot.head).toBe(5);
    assertSnapshot(stored());
  });
});
