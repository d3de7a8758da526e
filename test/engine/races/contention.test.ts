import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { LeaseLost, RunJournal } from '../../../packages/cairn/src/journal/run-journal.ts';
import { intercept } from '../../support/intercept.ts';
import { assertStored } from '../../support/soundness.ts';
import { settle } from '../../support/virtual-clock.ts';
import { seededRandomness, World } from '../../support/world.ts';

/** Two steps, of which the first ends when the test says so. */
function gated() {
  const bodies = { one: 0, two: 0 };
  const release: (() => void)[] = [];
  const workflow = defineWorkflow({
    type: 'gated',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const one = step('one', { timeout: '5m' }, async () => {
        bodies.one += 1;
        await new Promise<void>((resolve) => release.push(resolve));
        return bodies.one;
      });
      const two = step('two', { needs: { one } }, ({ one }) => {
        bodies.two += 1;
        return one;
      });
      return { two };
    },
  });
  return { workflow, bodies, release };
}

describe('50 concurrent drives of one run', () => {
  test('let one of them work, and leave one task for it', async () => {
    const { workflow, bodies, release } = gated();
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('gated');
    world.queue.take();
    const drives = Array.from({ length: 50 }, (_, i) =>
      drive({ ...world.deps, random: seededRandomness(i + 10) }, { runId }),
    );
    await settle();
    expect(bodies).toEqual({ one: 1, two: 0 });
    expect(world.queue.pending).toHaveLength(1);
    expect(world.queue.pending[0]).toMatchObject({ runId, reason: 'lease_expiry' });
    release.map((go) => go());
    const ends = await Promise.all(drives);
    expect(ends.filter((end) => end === 'closed')).toHaveLength(1);
    expect(ends.filter((end) => end === 'leased')).toHaveLength(49);
    expect(bodies).toEqual({ one: 1, two: 1 });
    const state = assertStored(world.db, runId);
    expect(state).toMatchObject({ status: 'completed', epoch: 1 });
    expect((await world.eventTypes(runId)).filter((type) => type === 'run_claimed')).toHaveLength(1);
  });

  test('let one work even if all of them found the run free', async () => {
    const { workflow, bodies, release } = gated();
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('gated');
    const held: (() => void)[] = [];
    const store = intercept(world.store, async ({ method }, proceed) => {
      const answer = await proceed();
      if (method === 'load' && held.length < 50) await new Promise<void>((resolve) => held.push(resolve));
      return answer;
    });
    const drives = Array.from({ length: 50 }, (_, i) =>
      drive({ ...world.deps, store, random: seededRandomness(i + 10) }, { runId }),
    );
    await settle();
    expect(held).toHaveLength(50);
    held.map((go) => go());
    await settle();
    expect(bodies.one).toBe(1);
    release.map((go) => go());
    expect((await Promise.all(drives)).filter((end) => end === 'closed')).toHaveLength(1);
    expect(assertStored(world.db, runId).epoch).toBe(1);
  });
});

describe.each([
  ['a drive that was suspended past its lease while another took over', { passes: true }],
  ['a drive that lives while its task is delivered again', { passes: false }],
])('a zombie: %s', (_, { passes }) => {
  /** The first drive is in step one, and its timers stop. A second drive then begins the step again, alone. */
  async function takenOver() {
    const { workflow, bodies, release } = gated();
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('gated');
    world.queue.take();
    const written: string[] = [];
    let awake = false;
    const store = intercept(world.store, async ({ method }, proceed) => {
      const answer = await proceed();
      const kind = typeof answer === 'object' && answer !== null && 'kind' in answer ? answer.kind : '';
      if (awake) written.push(`${method} ${kind}`.trim());
      return answer;
    });
    const beats: (() => void)[] = [];
    const clock = {
      now: () => world.clock.now(),
      timer: (_delayMs: number, fire: () => void) => {
        beats.push(fire);
        return () => {};
      },
    };
    const delivery = { name: 'drive/task', retryCount: 0 };
    const held = { ...world.deps, store, clock, random: seededRandomness(99) };
    const zombie = drive(held, { runId, delivery });
    await settle();
    expect(bodies.one).toBe(1);
    if (passes) world.clock.jump(world.deps.settings.leaseMs + 1);
    const again = passes ? {} : { delivery: { ...delivery, retryCount: 1 } };
    expect(await drive(world.deps, { runId, ...again })).toBe('moved');
    world.queue.take();
    const second = drive(world.deps, { runId, alone: true });
    await settle();
    expect(bodies.one).toBe(2);
    return { world, runId, release, beats, zombie, second, written, wake: () => (awake = true) };
  }

  test('cannot append', async () => {
    const { world, runId, release, zombie, second, written, wake } = await takenOver();
    wake();
    const headBefore = (await world.folded(runId)).head;
    release[0]?.();
    expect(await zombie).toBe('lease_lost');
    expect(written.filter((call) => !call.startsWith('read'))).toEqual(['commit exists']);
    expect((await world.folded(runId)).head).toBe(headBefore);
    release[1]?.();
    expect(await second).toBe('released');
    await world.run();
    expect(assertStored(world.db, runId)).toMatchObject({ status: 'completed', epoch: 3 });
  });

  test('cannot extend its lease', async () => {
    const { world, runId, release, beats, zombie, second, written, wake } = await takenOver();
    wake();
    const before = world.db.runs.get(runId)?.version;
    world.clock.jump(world.deps.settings.heartbeatMs + 1);
    for (const beat of beats) beat();
    expect(await zombie).toBe('lease_lost');
    expect(written).toContain('touch stale');
    expect(written).not.toContain('touch touched');
    expect(world.db.runs.get(runId)?.version).toBe(before);
    release[1]?.();
    expect(await second).toBe('released');
    await world.run();
    expect(assertStored(world.db, runId)).toMatchObject({ status: 'completed', epoch: 3 });
  });

  test('cannot write after the other has ended the run either', async () => {
    const { world, runId, release, zombie, second, written, wake } = await takenOver();
    release[1]?.();
    expect(await second).toBe('released');
    await world.run();
    wake();
    const { head } = await world.folded(runId);
    release[0]?.();
    expect(await zombie).toBe('lease_lost');
    expect(written).not.toContain('commit committed');
    expect(assertStored(world.db, runId).head).toBe(head);
  });

  test('is refused by its journal, whatever it requests', async () => {
    const { workflow } = gated();
    const world = new World({ workflows: [workflow] });
    const runId = await world.start('gated');
    const journalOf = async (owner: string) => {
      const loaded = await world.store.load(runId);
      if (!loaded) throw new Error('no run');
      const journal = new RunJournal(world.deps, loaded, { ...world.deps.settings, owner });
      await journal.append((state) => [
        {
          type: 'run_claimed',
          initiator: 'system',
          data: { owner, epoch: state.epoch + 1, expiresAt: world.clock.now() + 5_000 },
        },
      ]);
      return journal;
    };
    for (const ask of ['append', 'touch', 'refresh'] as const) {
      const before = await journalOf(`before ${ask}`);
      await journalOf(`after ${ask}`);
      const written = world.db.runs.get(runId)?.version;
      const outcome = ask === 'append' ? before.append(() => [RELEASED]) : before[ask]();
      await expect(outcome).rejects.toThrow(LeaseLost);
      // The refusal is permanent.
      await expect(before.touch()).rejects.toThrow(LeaseLost);
      expect(world.db.runs.get(runId)?.version).toBe(written);
    }
    assertStored(world.db, runId);
  });
});

const RELEASED = {
  type: 'run_released',
  initiator: 'system',
  data: { reason: 'budget', inFlight: [] },
} as const;
