import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { STUCK_AFTER } from '../../packages/cairn/src/core/findings.ts';
import type { RunEvent } from '../../packages/cairn/src/core/run/events.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../packages/cairn/src/engine/drive/drive.ts';
import { reviewFindings } from '../../packages/cairn/src/engine/unwritable.ts';
import { ofNamed } from '../../packages/cairn/src/operations/diagnosis/work-findings.ts';
import { FINDINGS_READ } from '../../packages/cairn/src/ports/diagnosis/findings.ts';
import type { JournalCommit } from '../../packages/cairn/src/ports/run-store.ts';
import { StoreRefused } from '../../packages/cairn/src/ports/store-errors.ts';
import { scan } from '../../packages/cairn/src/recovery/scan.ts';
import { intercept } from '../support/intercept.ts';
import { World } from '../support/world.ts';

const WORDS = `the property "outputs" is longer than 1048487 bytes ${'x'.repeat(2_000)}`;
const tooLarge = new StoreRefused('commit', new Error(WORDS), { code: 3, reason: 'request' });
const denied = new StoreRefused('commit', new Error('missing permissions'), {
  code: 7,
  reason: 'installation',
});

function hostileWorld(refusalOf: (commit: JournalCommit) => StoreRefused | undefined) {
  const undone: string[] = [];
  const workflow = defineWorkflow({
    type: 'booked',
    planVersion: 1,
    input: z.looseObject({}),
    steps: (step) => {
      const book = step('book', { compensate: () => void undone.push('book') }, () => ({}));
      return { book, pack: step('pack', { needs: { book } }, () => ({})) };
    },
  });
  const world = new World({ workflows: [workflow] });
  const store = intercept(world.store, ({ method, args }, proceed) => {
    const refusal = method === 'commit' ? refusalOf(args[0] as JournalCommit) : undefined;
    return refusal ? Promise.reject(refusal) : proceed();
  });
  return { world, undone, deps: { ...world.deps, store } };
}

const ends = (type: RunEvent['type'], stepId: string) => (commit: JournalCommit) =>
  commit.events.some((event) => event.type === type && (event.data as { stepId?: string }).stepId === stepId);

describe('a run whose append the store refuses permanently', () => {
  test("fails by name, with the store's error and the step, after its compensation", async () => {
    const isPack = ends('step_succeeded', 'pack');
    const made = hostileWorld((commit) => (isPack(commit) ? tooLarge : undefined));
    const runId = await made.world.start('booked');
    await made.world.run(undefined, made.deps);
    const { status, error } = made.world.stateOf(runId);
    expect([status, error]).toMatchObject(['failed', { code: 'RUN_UNWRITABLE', retryable: false }]);
    expect(error?.message).toMatch(/^commit: the property "outputs" is longer/);
    expect(error?.message.length).toBeLessThanOrEqual(500);
    expect(made.undone).toEqual(['book']);
    expect(made.world.db.findings.size).toBe(0);
  });

  test('ends without compensation where that is refused as well', async () => {
    const isPack = ends('step_succeeded', 'pack');
    const isUndo = ends('step_compensated', 'book');
    const made = hostileWorld((commit) => (isPack(commit) || isUndo(commit) ? tooLarge : undefined));
    const runId = await made.world.start('booked');
    await made.world.run(undefined, made.deps);
    expect(made.world.stateOf(runId)).toMatchObject({ status: 'failed', error: { code: 'RUN_UNWRITABLE' } });
    expect(made.undone).toEqual(['book']);
  });

  test('releases its lease where its end is refused as well, which does not count as a death', async () => {
    const isEnd = (commit: JournalCommit) =>
      commit.events.some(({ type }) => type === 'run_failed' || type === 'compensation_started');
    const isPack = ends('step_succeeded', 'pack');
    let isHostile = true;
    const made = hostileWorld((commit) =>
      isHostile && (isPack(commit) || isEnd(commit)) ? tooLarge : undefined,
    );
    const { world } = made;
    const runId = await world.start('booked');
    expect(await drive(made.deps, { runId })).toBe('failed');
    const { lease, failures, head } = world.stateOf(runId);
    expect([lease, failures?.times, failures?.error.code]).toEqual([undefined, 1, 'RUN_UNWRITABLE']);
    expect([...world.db.findings.values()]).toMatchObject([{ runId, head, reason: 'request' }]);
    isHostile = false;
    await world.run();
    const { status, suspect, interruptions } = world.stateOf(runId);
    expect([status, suspect, interruptions]).toEqual(['completed', undefined, 0]);
    await scan(world.deps);
    expect(world.db.findings.size).toBe(0);
  });

  test('counts no death where the release failed, and the same task comes again', async () => {
    let isHostile = true;
    const isClaim = (commit: JournalCommit) => commit.events.some(({ type }) => type === 'run_claimed');
    const made = hostileWorld((commit) => (isHostile && !isClaim(commit) ? tooLarge : undefined));
    const { world } = made;
    const runId = await world.start('booked');
    const delivery = { name: 'drive/1', retryCount: 0, answered: false };
    await expect(drive(made.deps, { runId, delivery })).rejects.toBe(tooLarge);
    expect(world.stateOf(runId).lease).toBeDefined();
    isHostile = false;
    await drive(made.deps, { runId, delivery: { name: 'drive/1', retryCount: 1, answered: true } });
    const { status, suspect } = world.stateOf(runId);
    expect([status, suspect]).toEqual(['completed', undefined]);
  });

  test.each([
    ['nothing can be written to it', tooLarge, 'request'],
    ['the store refuses the functions', denied, 'installation'],
  ] as const)('has a finding where %s, until it can be written again', async (_, refusal, reason) => {
    let isHostile = true;
    const made = hostileWorld(() => (isHostile ? refusal : undefined));
    const { world } = made;
    const runId = await world.start('booked');
    await expect(drive(made.deps, { runId })).rejects.toBe(refusal);
    const named = [...world.db.findings.values()];
    expect(named).toMatchObject([{ runId, tenantId: 't1', type: 'booked', reason, head: 1 }]);
    expect(named[0]?.message.length).toBeLessThanOrEqual(500);
    const [finding] = ofNamed(named, world.clock.now());
    expect(finding).toMatchObject({ code: 'RUNS_UNWRITABLE', state: 'wrong', evidence: { runs: 1 } });
    expect(JSON.stringify(finding)).not.toContain(runId);

    isHostile = false;
    await world.run();
    expect(world.stateOf(runId).status).toBe('completed');
    await scan(world.deps);
    expect(world.db.findings.size).toBe(0);
  });
});

describe('a run whose dispatches all throw', () => {
  test('has a finding from the tenth on, with the last error, until one makes progress', async () => {
    const { world } = hostileWorld(() => undefined);
    const runId = await world.start('booked');
    let isBroken = true;
    const registry: typeof world.deps.registry = Object.create(world.deps.registry, {
      pinned: {
        value: (type: string, version: number) => {
          const workflow = world.deps.registry.pinned(type, version);
          if (!isBroken || !workflow) return workflow;
          return { ...workflow, graph: { ...workflow.graph, order: undefined } };
        },
      },
    });
    const broken = { ...world.deps, registry };
    const until = (times: number) => world.run(() => world.stateOf(runId).failures?.times === times, broken);
    await until(STUCK_AFTER - 1);
    expect(world.db.findings.size).toBe(0);
    await until(STUCK_AFTER);
    const { failures, suspect } = world.stateOf(runId);
    const named = [...world.db.findings.values()];
    expect(named).toMatchObject([{ runId, reason: 'dispatches', message: failures?.error.message }]);
    expect(suspect).toBeUndefined();
    const [finding] = ofNamed(named, world.clock.now());
    expect(finding).toMatchObject({ code: 'RUNS_STUCK', state: 'wrong', evidence: { runs: 1 } });
    expect(JSON.stringify(finding)).not.toContain(runId);
    await scan(broken);
    expect(world.db.findings.size).toBe(1);

    isBroken = false;
    await world.run();
    expect(world.stateOf(runId).status).toBe('completed');
    await scan(world.deps);
    expect(world.db.findings.size).toBe(0);
  });
});

describe('findings beyond what is read at once', () => {
  const finding = (id: number, reason: 'request' | 'dispatches') => ({
    runId: `run_${String(id).padStart(4, '0')}`,
    tenantId: 't1',
    type: 'booked',
    head: 1,
    reason,
    message: 'refused',
    since: 0,
    lastAt: 0,
  });

  test('are reviewed as well', async () => {
    const { world } = hostileWorld(() => undefined);
    for (let id = 0; id < 2 * FINDINGS_READ + 1; id += 1) await world.findings.note(finding(id, 'request'));
    expect(await reviewFindings(world.deps)).toBe(0);
    expect(world.db.findings.size).toBe(0);
  });

  test('are reported by the diagnosis, whatever their kind', () => {
    const read = Array.from({ length: FINDINGS_READ }, (_, id) =>
      finding(id, id % 2 ? 'request' : 'dispatches'),
    );
    const findings = ofNamed(read, 1_000).map(({ what }) => what);
    expect(findings).toEqual([
      expect.stringContaining('at least 25 runs'),
      expect.stringContaining('at least 25 runs'),
    ]);
  });
});
