/**
 * A run with pages, whose process dies at one of its commits: before the commit, or before its answer. The document and pages are limited to
 * a few KiB, so that a run of ten items has pages, and some are written before the commit that names them. With `EVERY_CRASH=1` before the
 * command, a process dies at every commit, not only at some.
 */

import { afterAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import { checkRun } from '../../../packages/cairn/src/core/integrity/check-run.ts';
import { isOver } from '../../../packages/cairn/src/core/run/state.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { readDocuments } from '../../../packages/cairn/src/operations/integrity/read-documents.ts';
import { repairRun } from '../../../packages/cairn/src/operations/integrity/repair.ts';
import { libraryBatch, type StoreBatch } from '../../../packages/cairn/src/store/commits/store-batch.ts';
import { FirestoreRunStore } from '../../../packages/cairn/src/store/firestore-run-store.ts';
import { FirestoreIntegrityStore } from '../../../packages/cairn/src/store/integrity/firestore-integrity-store.ts';
import { FirestoreRetentionStore } from '../../../packages/cairn/src/store/retention/firestore-retention-store.ts';
import { type BilledWorld, BilledWorlds } from '../../engine/cost/billed-world.ts';
import { mortal } from '../../support/mortal.ts';

/** By default every third commit, to save time. */
const { FIRST, STEP } = process.env.EVERY_CRASH === '1' ? { FIRST: 1, STEP: 1 } : { FIRST: 2, STEP: 3 };
const SMALL = { documentBytes: 4 * 1024, pageBytes: 512, commitBytes: 1024 };
const ITEMS = 10;

const worlds = new BilledWorlds();
afterAll(() => worlds.close());

let onUndo: () => void;

/** Ten items, whose compensations all fail after a later step has failed. */
const undoing = defineWorkflow({
  type: 'undoing',
  planVersion: 1,
  input: z.object({}),
  steps(step) {
    const over = () => Array.from({ length: ITEMS }, (_, i) => i);
    const compensate = () => {
      // A snapshot is due every 1.25 s.
      onUndo();
      throw new Fatal(`503: ${'x'.repeat(300)}`);
    };
    const all = step.map('all', { over, compensate }, ({ item }) => item);
    return {
      broken: step('broken', { needs: { all } }, (): string => {
        throw new Fatal('broken');
      }),
    };
  },
});

type Moment = 'before' | 'after';

interface Performed {
  readonly world: BilledWorld;
  readonly runId: string;
  /** Number of commits of the process that had to die. */
  readonly commits: number;
  readonly died: boolean;
}

interface Commit {
  /** From 1. */
  readonly number: number;
  /** True if it writes only pages, which the next commit names. */
  readonly pagesOnly: boolean;
}

/** Kills the first process at the first commit that `dies` selects; others continue. */
async function perform(moment: Moment, dies: (commit: Commit) => boolean): Promise<Performed> {
  const world = await worlds.make({ workflows: [undoing], pages: SMALL });
  const runId = await world.start('undoing');
  onUndo = () => world.world.clock.jump(1_300);
  let commits = 0;
  let died = false;
  const dead = Promise.withResolvers<'dead'>();
  const newBatch = (): StoreBatch => {
    const batch = libraryBatch(world.db);
    const paths: string[] = [];
    return {
      create: (...args: Parameters<StoreBatch['create']>) => {
        paths.push(args[0]);
        return batch.create(...args);
      },
      set: (...args: Parameters<StoreBatch['set']>) => {
        paths.push(args[0]);
        return batch.set(...args);
      },
      update: (...args: Parameters<StoreBatch['update']>) => {
        paths.push(args[0]);
        return batch.update(...args);
      },
      delete: (...args: Parameters<StoreBatch['delete']>) => batch.delete(...args),
      commit: async () => {
        commits += 1;
        const pagesOnly = paths.length > 0 && paths.every((path) => path.includes('/pages/'));
        if (died || !dies({ number: commits, pagesOnly })) return batch.commit();
        died = true;
        if (moment === 'after') await batch.commit();
        victim.kill();
        dead.resolve('dead');
        return new Promise<never>(() => {});
      },
    };
  };
  const store = new FirestoreRunStore(world.db, undefined, newBatch, { budget: SMALL });
  const victim = mortal({ ...world.deps, store }, 50);
  world.world.queue.take();
  await Promise.race([drive(victim.deps, { runId }), dead.promise]);
  // The scan finds the run after its lease.
  if (died) await world.scanAfter(10 * 60_000);
  await world.run(() => world.isOver(runId));
  return { world, runId, commits, died };
}

/** Codes of the findings of the run. */
async function wrongWith({ world, runId }: Performed): Promise<string[]> {
  const read = await readDocuments(repairDeps(world), runId, () => true);
  return read ? checkRun(read.run).map(({ code }) => code) : ['gone'];
}

function repairDeps(world: BilledWorld) {
  const integrity = new FirestoreIntegrityStore(world.db);
  return { ...world.deps, reader: integrity, repairs: integrity, payloads: world.deps.store };
}

const pagesOf = async ({ world, runId }: Performed) =>
  (await world.db.collection(`gwi_runs/${runId}/pages`).listDocuments()).length;

/** Expects that the run ends without findings after the repair, and that its deletion leaves no page. Returns the findings before the repair. */
async function expectRecovered(performed: Performed, where: string): Promise<readonly string[]> {
  const { world, runId } = performed;
  const state = (await world.deps.store.load(runId))?.state;
  expect([where, state && isOver(state), state?.status]).toEqual([where, true, 'failed']);
  expect([where, state?.compensationLog.length]).toEqual([where, ITEMS]);
  const codes = await wrongWith(performed);
  expect([where, codes.filter((code) => code !== 'PAGE_ORPHANED')]).toEqual([where, []]);
  if (codes.length > 0) {
    const repairRequest = { runId, tenantId: 't1', actor: 'c.operator', apply: true };
    expect(await repairRun(repairDeps(world), repairRequest)).toMatchObject({ outcome: 'applied' });
    expect([where, await wrongWith(performed)]).toEqual([where, []]);
  }
  const retention = new FirestoreRetentionStore(world.db);
  for (let more = true; more; ) ({ more } = await retention.deleteUnder(runId, 300));
  expect([where, await pagesOf(performed)]).toEqual([where, 0]);
  return codes;
}

test('a run with pages ends after a crash at any commit, and is deleted with its pages', async () => {
  const whole = await perform('before', () => false);
  expect(await pagesOf(whole)).toBeGreaterThan(2);
  expect(await wrongWith(whole)).toEqual([]);
  let crashes = 0;
  for (let at = FIRST; at <= whole.commits; at += STEP) {
    for (const moment of ['before', 'after'] as const) {
      const performed = await perform(moment, ({ number }) => number === at);
      // A fast machine may make fewer commits of the same run.
      if (performed.died) crashes += 1;
      await expectRecovered(performed, `${moment} commit ${at}`);
    }
  }
  expect(crashes).toBeGreaterThan(5);
});

test('pages of a process that died before they were named are found, repaired and deleted', async () => {
  const performed = await perform('after', ({ pagesOnly }) => pagesOnly);
  expect(performed.died).toBe(true);
  // The next process names the pages that match its own state, at this moment possibly all of them. A page of events that were
  // never appended remains unnamed.
  const { world, runId } = performed;
  const pages = world.db.collection(`gwi_runs/${runId}/pages`);
  const [one] = (await pages.limit(1).get()).docs;
  if (!one) throw new Error('the run has no pages');
  await pages.doc('f'.repeat(one.id.length)).set(one.data());
  const codes = await expectRecovered(performed, 'after the commit of pages');
  expect([...new Set(codes)]).toEqual(['PAGE_ORPHANED']);
});
