/**
 * Rule E8: after a restore no action is repeated without permission. A fake receiver that outlives the restore counts the
 * actions.
 */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { decideApproval } from '../../../packages/cairn/src/operations/approvals/decide-approval.ts';
import { resolveEffect } from '../../../packages/cairn/src/operations/effects/resolve-effect.ts';
import { beginRestore, releaseRestore } from '../../../packages/cairn/src/operations/runtime/restore.ts';
import { Outside } from '../../support/outside.ts';
import { assertStored } from '../../support/soundness.ts';
import { settle } from '../../support/virtual-clock.ts';
import { World } from '../../support/world.ts';
import { type Backup, backupOf, restoreInto } from './backup.ts';

const HOUR_MS = 3_600_000;
const HOME = 'projects/p/databases/d';
const BY = { actor: 'c.ops', tenantId: 't1' };

/** A receiver of each kind, and a step that acts without a capability. They outlive every installation. */
function scene() {
  const mails = new Outside({ id: 'mail.send' });
  const confirmed = new Outside({ id: 'card.charge', requiresConfirmation: true });
  const deduped = new Outside({ id: 'order.place', idempotency: 'required' });
  const findable = new Outside({ id: 'post.comment', withLookup: true });
  const outsides = [mails, confirmed, deduped, findable];
  const done: string[] = [];
  const child = defineWorkflow({
    type: 'child',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({
      told: step('tell', { uses: [mails.capability] }, ({ perform }) =>
        perform(mails.capability, { text: 'of the child' }),
      ),
    }),
  });
  const workflow = defineWorkflow({
    type: 'work',
    planVersion: 1,
    input: z.object({}),
    onDoubt: 'ask',
    steps(step) {
      const mailed = step('mail', { uses: [mails.capability] }, ({ perform }) =>
        perform(mails.capability, { text: 'hello' }),
      );
      const placed = step('place', { needs: { mailed }, uses: [deduped.capability] }, ({ perform }) =>
        perform(deduped.capability, { text: 'one' }),
      );
      const posted = step('post', { needs: { placed }, uses: [findable.capability] }, ({ perform }) =>
        perform(findable.capability, { text: 'a comment' }),
      );
      const once = step('once', { needs: { posted }, idempotent: false }, () => {
        done.push('once');
        return 'done';
      });
      const charged = step('charge', { needs: { once }, uses: [confirmed.capability] }, ({ perform }) =>
        perform(confirmed.capability, { text: '5 euros' }),
      );
      const family = step.child('family', { needs: { charged }, workflow: child, input: () => ({}) });
      return { family };
    },
  });
  const bindings = outsides.map(({ binding }) => binding);
  let seeds = 0;
  const drawSeed = () => {
    seeds += 1;
    return seeds;
  };
  /** Each installation draws other ids. */
  const installation = () => new World({ workflows: [workflow, child], bindings, seed: drawSeed() });
  return { mails, deduped, findable, confirmed, outsides, done, installation };
}

type Scene = ReturnType<typeof scene>;

const restoreDeps = (world: World) => ({
  ...world.deps,
  config: world.config,
  statistics: world.statistics,
  home: HOME,
});

/** Answers the questions of runs like a person who checks with the receiver whether the action was done. */
async function answerAll(world: World, { outsides, done }: Scene): Promise<number> {
  let answered = 0;
  for (const { snapshot } of [...world.db.runs.values()]) {
    for (const wait of snapshot.waits) {
      if (wait.kind !== 'approval') continue;
      answered += 1;
      const run = { runId: snapshot.id, tenantId: 't1', actor: 'u.ann' };
      if (wait.purpose === 'doubt') {
        const decision = done.includes('once') ? 'approve_with_waiver' : 'approve';
        await decideApproval(world.deps, { ...run, stepId: wait.execution.stepId, decision, note: 'looked' });
        continue;
      }
      const { effectId = '' } = wait;
      const key = effectId.split('.')[0] ?? '';
      const outside = outsides.find(({ applied }) => applied.some((one) => one.key === key));
      const id = 1 + (outside?.applied.findIndex((one) => one.key === key) ?? -1);
      const answers = outside
        ? { outcome: 'recorded' as const, result: { id } }
        : { outcome: 're-execute' as const };
      await resolveEffect(world.deps, { ...run, effectId, ...answers });
    }
  }
  return answered;
}

async function toTheEnd(world: World, of: Scene): Promise<number> {
  let questions = 0;
  for (let turn = 0; turn < 20; turn += 1) {
    await world.run(() => isResting(world));
    const answered = await answerAll(world, of);
    questions += answered;
    if (answered === 0 && all(world, ({ status }) => status === 'completed')) return questions;
  }
  throw new Error(`not over: ${[...world.db.runs.values()].map(({ snapshot }) => snapshot.status).join()}`);
}

const all = (world: World, is: (state: RunState) => boolean) =>
  [...world.db.runs.values()].every(({ snapshot }) => is(snapshot));

function isResting(world: World): boolean {
  const asks = [...world.db.runs.values()].some(({ snapshot: { waits, lease } }) =>
    waits.some(({ kind }) => kind === 'approval' && !lease),
  );
  return asks || all(world, ({ status }) => status === 'completed');
}

function assertOnce({ outsides, done, mails }: Scene): void {
  for (const { twice } of outsides) expect(twice).toEqual([]);
  expect(outsides.map(({ applied }) => applied.length)).toEqual([2, 1, 1, 1]);
  expect(mails.applied.map(({ text }) => text)).toEqual(['hello', 'of the child']);
  expect(done).toEqual(['once']);
}

/** Restores an hour after the backup, sets the mark, and releases the installation at once. */
async function restored(of: Scene, backup: Backup, at: number): Promise<World> {
  const world = of.installation();
  restoreInto(world.db, backup);
  world.clock.jump(at + HOUR_MS - world.clock.now());
  await beginRestore(restoreDeps(world), BY);
  await releaseRestore(restoreDeps(world), BY);
  return world;
}

describe('a run continues from a backup', () => {
  /** Backups at every write of one run, each with the time at which it was taken. */
  async function backups(of: Scene): Promise<{ readonly backup: Backup; readonly at: number }[]> {
    const world = of.installation();
    const taken: { backup: Backup; at: number }[] = [];
    let due = false;
    world.db.onChange(() => {
      if (due) return;
      due = true;
      // The backup is taken after the current write, and before the next one.
      queueMicrotask(() => {
        due = false;
        taken.push({ backup: backupOf(world.db), at: world.clock.now() });
      });
    });
    await world.start('work');
    await toTheEnd(world, of);
    return taken;
  }

  test('taken at any moment, without repeating or omitting anything', async () => {
    const first = scene();
    const { length } = await backups(first);
    assertOnce(first);
    expect(length).toBeGreaterThan(20);
    for (let i = 0; i < length; i += 1) {
      const of = scene();
      const point = (await backups(of))[i];
      if (!point || point.backup.size === 0) throw new Error(`no backup ${i}`);
      const world = await restored(of, point.backup, point.at);
      if (world.db.runs.size === 0) continue;
      await toTheEnd(world, of);
      assertOnce(of);
      for (const runId of world.db.runs.keys()) assertStored(world.db, runId);
    }
  });

  test('but would repeat calls without the mark of the restore', async () => {
    const of = scene();
    const [, second] = await backups(of);
    if (!second) throw new Error('no backup');
    const world = of.installation();
    restoreInto(world.db, second.backup);
    world.clock.jump(second.at + HOUR_MS - world.clock.now());
    await toTheEnd(world, of);
    expect(of.mails.twice).not.toEqual([]);
  });
});

describe('while it is held', () => {
  test('nothing is driven, and a start is kept and continues by itself after the release', async () => {
    const of = scene();
    const before = of.installation();
    await before.start('child');
    const world = of.installation();
    restoreInto(world.db, backupOf(before.db));
    world.clock.jump(before.clock.now() + HOUR_MS - world.clock.now());
    const mark = await beginRestore(restoreDeps(world), BY);
    expect(await beginRestore(restoreDeps(world), { ...BY, actor: 'c.other' })).toEqual(mark);
    world.clock.jump(60_000);
    const fresh = await world.start('child');
    await world.run(() => world.queue.due(world.clock.now()).length === 0);
    await settle();
    expect(of.mails.calls).toBe(0);
    expect(all(world, ({ status }) => status === 'pending')).toBe(true);
    await releaseRestore(restoreDeps(world), BY);
    await world.run(() => isResting(world) && world.stateOf(fresh).status === 'completed');
    // The run from before the backup asks; the one that was started since does not.
    expect(of.mails.applied).toHaveLength(1);
    expect(await toTheEnd(world, of)).toBe(1);
    expect(of.mails.twice).toEqual([]);
  });
});

test('permissions given before the backup are asked for again, and later ones are not', async () => {
  const of = scene();
  const before = of.installation();
  await before.start('child');
  of.mails.faults.push('lose_answer');
  await before.run(() => isResting(before));
  const [asked] = [...before.db.runs.values()].flatMap(({ snapshot }) => snapshot.waits);
  const run = { tenantId: 't1', actor: 'u.ann', outcome: 're-execute' as const };
  const runId = [...before.db.runs.keys()][0] ?? '';
  await resolveEffect(before.deps, { ...run, runId, effectId: asked?.effectId ?? '' });
  const world = await restored(of, backupOf(before.db), before.clock.now());
  await before.run();
  expect(of.mails.applied).toHaveLength(2);
  await world.run(() => isResting(world));
  expect(of.mails.applied).toHaveLength(2);
  expect(await toTheEnd(world, of)).toBe(1);
  expect(of.mails.applied).toHaveLength(2);
});
