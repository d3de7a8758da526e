import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import {
  type DiagnosisDeps,
  Diagnostician,
  FAST_TTL_MS,
  SLOW_TTL_MS,
} from '../../../packages/cairn/src/operations/diagnosis/diagnose.ts';
import type { DiagnosisFinding } from '../../../packages/cairn/src/operations/diagnosis/finding.ts';
import { OutcomeUnknown } from '../../../packages/cairn/src/ports/store-errors.ts';
import { CollectedLog } from '../../../packages/cairn/src/testing/world/collected-log.ts';
import { pretendedDiagnosis } from '../../support/pretended-diagnosis.ts';
import { World } from '../../support/world.ts';

const HOUR_MS = 3_600_000;

const version = (planVersion: number) =>
  defineWorkflow({
    type: 'wait',
    planVersion,
    input: z.unknown(),
    steps: (step) => ({ slept: step.sleep('rest', { for: '30d' }) }),
  });

let world: World;
let log: CollectedLog;
let deps: DiagnosisDeps;

beforeEach(() => {
  world = new World({ workflows: [version(1)] });
  log = new CollectedLog(world.clock);
  const { statistics, schedules, config, db, clock } = world;
  const { registry, plans } = world.deps;
  deps = { ...pretendedDiagnosis(db, clock), statistics, schedules, config, registry, plans, clock, log };
});

const codesOf = (findings: readonly DiagnosisFinding[], state: DiagnosisFinding['state'] = 'wrong') =>
  findings.filter((one) => one.state === state).map(({ code }) => code);
const look = async (other: Partial<DiagnosisDeps> = {}) =>
  new Diagnostician({ ...deps, ...other }).diagnose();
const beat = (name: 'recoverRuns' | 'fireSchedules' | 'checkRuns' | 'deleteExpired') =>
  deps.heartbeats.record(name, { at: world.clock.now(), tookMs: 1, outcome: 'done' });

const lost = () => Promise.reject(new OutcomeUnknown('a look', new Error('connection lost')));

describe('a diagnosis', () => {
  test('of a healthy installation has no problems', async () => {
    for (const name of ['recoverRuns', 'fireSchedules', 'checkRuns', 'deleteExpired'] as const)
      await beat(name);
    const { findings, waking, queue, skewMs, lateSchedules } = await look();
    expect(codesOf(findings)).toEqual([]);
    expect(waking).toEqual({ lagMs: 0, due: 0, held: 0, stale: 0, behind: 0, isCut: false });
    expect([queue?.kind, skewMs, lateSchedules]).toEqual(['seen', 0, { late: 0, isCut: false }]);
  });

  test('finds a late scan and the runs it left overdue, with the delay', async () => {
    await beat('recoverRuns');
    await world.start('wait');
    world.clock.jump(HOUR_MS);
    const { findings, waking } = await look();
    expect(codesOf(findings)).toEqual(expect.arrayContaining(['SCAN_LATE', 'RUNS_OVERDUE']));
    expect(waking).toMatchObject({ due: 1, lagMs: HOUR_MS - 60_000 });
  });

  test('of more waiting runs than are checked counts the due ones exactly', async () => {
    for (let count = 0; count < 201; count += 1) await world.start('wait');
    expect((await look()).waking).toMatchObject({ due: 0, isCut: false });
    world.clock.jump(HOUR_MS);
    expect((await look()).waking).toMatchObject({ due: 200, isCut: true });
  });

  test('distinguishes a live lease from one that expired long ago', async () => {
    const runId = await world.start('wait');
    const run = world.db.runs.get(runId);
    if (!run) throw new Error('the run is gone');
    const now = world.clock.now();
    const hold = (expiresAt: number) => {
      run.snapshot = { ...run.snapshot, lease: { owner: 'o', epoch: 1, expiresAt } };
      run.wakeAt = expiresAt;
    };
    hold(now + 1_000);
    expect((await look()).waking).toMatchObject({ held: 1, stale: 0 });
    hold(now - 1_000);
    expect((await look()).waking).toMatchObject({ held: 0, stale: 0 });
    hold(now - 4 * 60_000);
    const { waking, findings } = await look();
    expect(waking).toMatchObject({ held: 0, stale: 1 });
    expect(codesOf(findings)).toContain('LEASES_STALE');
  });

  test('counts live runs of all tenants on versions, and finds those that are not deployed', async () => {
    await world.start('wait', {}, { tenantId: 'a' });
    await world.start('wait', {}, { tenantId: 'b' });
    await world.run(() => [...world.db.runs.values()].every(({ snapshot }) => snapshot.waits.length > 0));
    expect(codesOf((await look()).findings, 'well')).toContain('VERSIONS');
    const newer = await look({ registry: new WorkflowRegistry([version(1), version(2)]) });
    expect(codesOf(newer.findings, 'note')).toContain('OLD_VERSION_IN_USE');
    const { findings } = await look({ registry: new WorkflowRegistry([version(2)]) });
    const gone = findings.find(({ code }) => code === 'PLAN_VERSION_UNAVAILABLE');
    expect(gone).toMatchObject({ state: 'wrong', evidence: { type: 'wait', planVersion: 1, runs: 2 } });
  });

  test('finds an instance whose clock differs from that of the store', async () => {
    const ahead = { ...world.clock, now: () => world.clock.now() + 60_000 };
    const { findings, skewMs } = await look({ clock: { ...ahead, timer: () => () => {} } });
    expect(skewMs).toBe(60_000);
    expect(codesOf(findings)).toContain('INSTANCE_CLOCK_SKEW');
  });

  test('covers the queues of drive classes too, each under its deployed name', async () => {
    const queues = [...deps.queueProbe.queues, { name: 'drive-heavyAlone', isAlone: true }];
    const missing = async (now: number, name: string) =>
      name === 'drive-heavyAlone' ? { kind: 'missing' as const } : deps.queueProbe.inspect(now, name);
    const { findings } = await look({ queueProbe: { queues, inspect: missing } });
    const found = findings.filter(({ code }) => code.includes('QUEUE'));
    expect(found.map(({ state, code }) => `${state} ${code}`)).toEqual([
      'wrong ALONE_QUEUE_MISSING',
      'well QUEUE',
      'well ALONE_QUEUE',
    ]);
    expect(found[0]?.help).toContain('--only functions:CODEBASE:drive-heavyAlone');
  });

  test('lists the problems first', async () => {
    world.clock.jump(HOUR_MS);
    await deps.config.write({ killSwitch: true, paused: new Map() }, undefined);
    const states = (await look()).findings.map(({ state }) => state);
    const order = ['wrong', 'note', 'well'];
    expect(states).toEqual(states.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)));
    expect(states[0]).toBe('wrong');
  });
});

describe('a probe that fails', () => {
  test.each([
    ['the queue', { queueProbe: { queues: [{ name: 'drive', isAlone: false }], inspect: lost } }],
    ['overdue runs', { storeProbe: { indexes: async () => [], leftOvers: async () => [], waking: lost } }],
    ['the indexes', { storeProbe: { indexes: lost, leftOvers: async () => [], waking: async () => [] } }],
    [
      'expired documents',
      { storeProbe: { indexes: async () => [], leftOvers: lost, waking: async () => [] } },
    ],
  ] as const)('is a finding, and the other questions are still asked: %s', async (what, other) => {
    const { findings } = await look(other);
    const unseen = findings.filter(({ code }) => code === 'UNSEEN');
    expect(unseen.map(({ what: said }) => said)).toEqual([`${what} cannot be seen`]);
    expect(JSON.stringify(unseen)).not.toContain('connection lost');
    expect(codesOf(findings, 'well')).toContain('RUNNING');
    expect(log.lines).toMatchObject([{ level: 'warn', event: 'diagnosis_unanswered', fields: { what } }]);
  });

  test('makes up the whole diagnosis if no probe succeeds', async () => {
    const deaf = {
      heartbeats: { read: lost, record: lost },
      storeProbe: { indexes: lost, leftOvers: lost, waking: lost },
      queueProbe: { ...deps.queueProbe, inspect: lost },
      findings: { ...deps.findings, list: lost },
      config: { read: lost, write: lost },
      schedules: { ...deps.schedules, due: lost },
    };
    await expect(look(deaf)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});

test('a diagnosis is cached for a while; indexes are probed less often', async () => {
  const probes = { indexes: 0, waking: 0 };
  const counting = {
    leftOvers: async () => [],
    indexes: async () => {
      probes.indexes += 1;
      return [];
    },
    waking: async () => {
      probes.waking += 1;
      return [];
    },
  };
  const diagnostician = new Diagnostician({ ...deps, storeProbe: counting });
  await Promise.all([diagnostician.diagnose(), diagnostician.diagnose(), diagnostician.diagnose()]);
  expect(probes).toEqual({ indexes: 1, waking: 1 });
  world.clock.jump(FAST_TTL_MS);
  await diagnostician.diagnose();
  expect(probes).toEqual({ indexes: 1, waking: 2 });
  world.clock.jump(SLOW_TTL_MS);
  await diagnostician.diagnose();
  expect(probes).toEqual({ indexes: 2, waking: 3 });
});

test('a failed probe is repeated soon, however rare it is otherwise', async () => {
  let requestCount = 0;
  const indexes = () => {
    requestCount += 1;
    return requestCount === 1 ? lost() : Promise.resolve([]);
  };
  const diagnostician = new Diagnostician({
    ...deps,
    storeProbe: { indexes, leftOvers: async () => [], waking: async () => [] },
  });
  expect(codesOf((await diagnostician.diagnose()).findings)).toContain('UNSEEN');
  world.clock.jump(FAST_TTL_MS);
  expect(codesOf((await diagnostician.diagnose()).findings)).not.toContain('UNSEEN');
  expect(requestCount).toBe(2);
});

test('a failed diagnosis is made again for the next caller', async () => {
  let isDown = true;
  const { heartbeats, config, schedules, findings } = deps;
  const down = new OutcomeUnknown('a read', new Error('down'));
  const flaky = <T>(answer: () => Promise<T>) => (isDown ? Promise.reject(down) : answer());
  const diagnostician = new Diagnostician({
    ...deps,
    heartbeats: { record: lost, read: () => flaky(() => heartbeats.read()) },
    queueProbe: { ...deps.queueProbe, inspect: (now) => flaky(() => deps.queueProbe.inspect(now, 'drive')) },
    config: { write: lost, read: () => flaky(() => config.read()) },
    schedules: Object.assign(Object.create(schedules), {
      due: (at: number, limit: number) => flaky(() => schedules.due(at, limit)),
    }),
    findings: Object.assign(Object.create(findings), {
      list: (limit: number) => flaky(() => findings.list(limit)),
    }),
    storeProbe: {
      indexes: lost,
      leftOvers: lost,
      waking: (limit) => flaky(() => deps.storeProbe.waking(limit)),
    },
  });
  await expect(diagnostician.diagnose()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  isDown = false;
  expect((await diagnostician.diagnose()).storedHeartbeats).toBeDefined();
});

test('a changed definition of a version is a problem, with the step and the next version', async () => {
  await world.start('wait');
  const { registry: _, ...others } = deps;
  const changed = defineWorkflow({
    type: 'wait',
    planVersion: 1,
    input: z.unknown(),
    steps: (step) => ({ slept: step.sleep('nap', { for: '30d' }) }),
  });
  const registry = new WorkflowRegistry([changed]);
  const { findings } = await look({ ...others, registry });
  expect(findings.find(({ code }) => code === 'PLAN_CHANGED')).toEqual({
    code: 'PLAN_CHANGED',
    state: 'wrong',
    what: "the definition of wait v1 changed: step 'rest' was renamed to 'nap', and 1 more difference",
    help: expect.stringContaining('Deploy it as v2'),
    evidence: expect.objectContaining({ type: 'wait', planVersion: 1, nextVersion: 2 }),
  });
});
