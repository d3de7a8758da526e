import { describe, expect, test } from '@jest/globals';
import type { Mailbox } from '../../packages/cairn/src/core/mailbox/mailbox.ts';
import { Bindings } from '../../packages/cairn/src/engine/define/bindings.ts';
import { WorkflowRegistry } from '../../packages/cairn/src/engine/define/registry.ts';
import type { Workflow } from '../../packages/cairn/src/engine/define/steps.ts';
import { appendToRun } from '../../packages/cairn/src/operations/append-to-run.ts';
import type { JournalCommit, StartCommit } from '../../packages/cairn/src/ports/run-store.ts';
import { intercept } from '../support/intercept.ts';
import { differenceOfRuns } from './judge.ts';
import type { RunOutcome } from './outcome.ts';
import { Performance } from './performance.ts';
import type { ProcessDeps } from './process.ts';
import { sweepRefusals } from './refusals.ts';
import type { Operation, Scenario } from './scenario.ts';
import { scenarios } from './scenarios/index.ts';
import { performPoint, rehearse, sweep } from './sweep.ts';

/** Interval between the tried points of `npm run sweep`. It is a prime, so that every mode occurs. */
const EVERY = 307;

function named(name: string): Scenario {
  const found = scenarios.find((scenario) => scenario.name === name);
  if (!found) throw new Error(`no scenario '${name}'`);
  return found;
}

/** Verdicts on a scenario whose processes are sabotaged. */
async function verdicts(scenario: Scenario, tamper: (deps: ProcessDeps) => ProcessDeps, every = 5) {
  const { totals, findings } = await sweep([scenario], { tamper, every, withoutPairs: true });
  return { totals, kinds: new Set(findings.map(({ verdict }) => verdict.kind)) };
}

/** Interval between the tried refusals, also a prime. */
const EVERY_REFUSAL = 401;
const EVERY_REFUSED_DOOR = 283;

describe('a store that refuses writes to a run', () => {
  test('has it end or reported within ten dispatches, and everything end when it recovers', async () => {
    const { points, findings } = await sweepRefusals(scenarios, { every: EVERY_REFUSAL });
    expect(findings).toEqual([]);
    expect(points).toBeGreaterThan(25);
  });

  test('answers starts, effects and events with a stable code, and accepts the same request when it recovers', async () => {
    const { points, findings } = await sweepRefusals(scenarios, {
      every: EVERY_REFUSED_DOOR,
      withoutMoves: true,
    });
    expect(findings).toEqual([]);
    expect(points).toBeGreaterThan(15);
  });
});

describe('the sweep', () => {
  test('finds that every scenario recovers from whatever stops it', async () => {
    const { totals, findings } = await sweep(scenarios, { every: EVERY, withoutPairs: true });
    expect(findings).toEqual([]);
    expect(totals).toEqual({
      scenarios: scenarios.length,
      crashPoints: totals.crashPoints,
      recovered: totals.crashPoints,
      lost: 0,
      stuck: 0,
      repeatedCompletedSteps: 0,
      duplicateEffects: 0,
      silentlyDropped: 0,
    });
    expect(totals.crashPoints).toBeGreaterThan(scenarios.length);
  });

  test('finds that it recovers from a second death during the recovery from the first', async () => {
    const { totals } = await sweep([named('sleep')], { every: 29 });
    expect(totals).toMatchObject({ recovered: totals.crashPoints, stuck: 0, lost: 0 });
  });

  test('finds that a dispatch that survives beside the redelivery of its task changes nothing', async () => {
    const all = ['not-idempotent', 'map', 'event', 'effect-external_action-not_supported'].map(named);
    const { totals, findings } = await sweep(all, { modes: ['redelivered', 'stalled'], withoutPairs: true });
    expect(findings).toEqual([]);
    expect(totals.crashPoints).toBeGreaterThan(100);
  });

  test('is deterministic: the same point gives the same journals to the byte', async () => {
    const scenario = named('parallel-join');
    const { points } = await rehearse(scenario, { withoutPairs: true });
    const point = points[100];
    if (!point) throw new Error('no points');
    const [once, again] = [await performPoint(scenario, point), await performPoint(scenario, point)];
    expect(hashesOf(once)).toEqual(hashesOf(again));
    expect(once.calls.made).toEqual(again.calls.made);
  });
});

describe('the sweep detects', () => {
  test('a store that acknowledges the commit of a step and drops it', async () => {
    const dropping = (deps: ProcessDeps): ProcessDeps => ({
      ...deps,
      store: intercept(deps.store, async ({ method, args }, proceed) => {
        const drops = method === 'commit' && has(args[0] as JournalCommit, 'step_succeeded');
        return drops ? { kind: 'committed' } : proceed();
      }),
    });
    // Each of these points continues until the sweep gives it up, so a few are enough.
    const { totals, kinds } = await verdicts(named('chain'), dropping, 40);
    expect(totals.recovered).toBe(0);
    // Each dispatch throws and releases the run with back-off. Nothing can end a run while its store acknowledges writes that
    // it drops, so the run gets a finding.
    expect(kinds).toEqual(new Set(['stuck']));
    const { world, outside } = await new Performance(named('chain'), { tamper: dropping }).perform();
    expect(world.db.findings.get(outside.runId)).toMatchObject({ reason: 'dispatches' });
  });

  test("a trace of a suspect in another run's journal, and a missing trace that every run leaves", () => {
    const run = { type: 't', final: {}, story: {}, begun: { set: 'usual' }, cutOff: {} } as const;
    const differenceWith = (more: Partial<RunOutcome>) => differenceOfRuns([run], [{ ...run, ...more }]);
    expect(differenceWith({ begun: { set: 'of_a_suspect', plain: 'of_a_suspect' } })).toBeUndefined();
    expect(differenceWith({ begun: { set: 'usual', plain: 'usual' } })).toContain('plain');
    expect(differenceWith({ begun: { plain: 'of_a_suspect' } })).toContain('nothing tells of set');
    expect(differenceWith({ cutOff: { plain: 'of_a_suspect' } })).toBeUndefined();
    expect(differenceWith({ cutOff: { plain: 'usual' } })).toContain('plain');
  });

  test('an engine that does not enqueue, without a scan that makes up for it', async () => {
    const forgetful = (deps: ProcessDeps): ProcessDeps => ({
      ...deps,
      queue: {
        enqueue: async (task) => {
          if (task.reason !== 'continue' && task.reason !== 'retry') await deps.queue.enqueue(task);
        },
      },
    });
    const { totals } = await verdicts(named('sleep'), forgetful, 20);
    expect(totals).toMatchObject({ recovered: totals.crashPoints, stuck: 0 });
    const alone = await sweep([named('sleep')], {
      tamper: forgetful,
      withoutScan: true,
      withoutPairs: true,
      every: 20,
    });
    // The exceptions are points at which the queue repeats a task of the dead process just when it is needed.
    expect(alone.totals.stuck).toBeGreaterThan(alone.totals.crashPoints / 2);
  });

  test('a drive that ignores which steps have succeeded', async () => {
    const { totals, kinds } = await verdicts(named('chain'), (deps) => ({
      ...deps,
      store: intercept(deps.store, async ({ method }, proceed) => {
        const loaded = await proceed();
        if (method !== 'load') return loaded;
        const { state, ...rest } = loaded as NonNullable<Awaited<ReturnType<typeof deps.store.load>>>;
        return { ...rest, state: { ...state, steps: state.steps.clear() } };
      }),
    }));
    expect(totals.repeatedCompletedSteps).toBeGreaterThan(0);
    expect(kinds.has('repeated')).toBe(true);
  });

  test('a start without an idempotency record, so that a repetition gets a second run', async () => {
    const { kinds } = await verdicts(
      named('chain'),
      (deps) => ({
        ...deps,
        store: intercept(deps.store, ({ method, args }, proceed) =>
          method === 'start' ? deps.store.start({ ...(args[0] as StartCommit), records: [] }) : proceed(),
        ),
      }),
      1,
    );
    expect(kinds.has('different')).toBe(true);
  });

  test('a mailbox that acknowledges a waiting run and forgets it', async () => {
    const { totals, kinds } = await verdicts(
      named('event'),
      (deps) => ({
        ...deps,
        mailboxes: intercept(deps.mailboxes, async ({ method, args }, proceed) => {
          const isJoin = method === 'write' && (args[1] as Mailbox | undefined)?.waiting.length === 1;
          return isJoin ? { kind: 'written' } : proceed();
        }),
      }),
      20,
    );
    expect(totals.recovered).toBeLessThan(totals.crashPoints);
    expect(kinds.has('stuck')).toBe(true);
  });

  test('a ledger that forgets, so that an action is repeated', async () => {
    const { totals, kinds } = await verdicts(
      named('effect-external_action-not_supported'),
      (deps) => ({
        ...deps,
        effects: intercept(deps.effects, async ({ method }, proceed) =>
          method === 'rowsOf' ? [] : method === 'read' ? undefined : proceed(),
        ),
        store: intercept(deps.store, ({ method, args }, proceed) => {
          const commit = args[0] as JournalCommit;
          if (method !== 'commit' || !commit.effects) return proceed();
          const { effects: _, ...rest } = commit;
          return deps.store.commit(rest);
        }),
      }),
      13,
    );
    expect(kinds).toContain('duplicated');
    expect(totals.duplicateEffects).toBeGreaterThan(0);
  });

  test('a takeover from a live dispatch at a step that must not run twice', async () => {
    const blind = (deps: ProcessDeps): ProcessDeps => ({
      ...deps,
      registry: new WorkflowRegistry(
        deps.registry.types().flatMap((type) => deps.registry.versions(type).map(asIdempotent)),
      ),
    });
    const { findings } = await sweep([named('not-idempotent')], {
      tamper: blind,
      modes: ['redelivered', 'stalled'],
      withoutPairs: true,
    });
    expect(findings.map(({ verdict }) => verdict.kind)).toContain('repeated');
  });

  test('a receiver that claims to have acted, and has not', async () => {
    const { totals, kinds } = await verdicts(
      named('effect-external_action-required'),
      (deps) => ({
        ...deps,
        bindings: new Bindings(
          deps.bindings.all.map((binding) => ({ ...binding, call: async () => ({ id: 'hello' }) })),
        ),
      }),
      7,
    );
    expect(kinds).toEqual(new Set(['dropped']));
    expect(totals.silentlyDropped).toBe(totals.crashPoints);
  });

  test('a store that loses the completion duties of a run', async () => {
    const { totals } = await verdicts(
      named('child'),
      (deps) => ({
        ...deps,
        store: intercept(deps.store, async ({ method, args }, proceed) => {
          const isNews = method === 'commit' && has(args[0] as JournalCommit, 'wait_resolved');
          return isNews ? { kind: 'committed' } : proceed();
        }),
      }),
      20,
    );
    expect(totals.recovered).toBe(0);
  });

  test('a wait that is closed without an outcome of its step', async () => {
    const careless: Operation = {
      name: 'close',
      when: (view) => view.waitsAt('night'),
      act: async ({ deps, runId, tenantId }) => {
        await appendToRun(deps, {
          runId,
          tenantId,
          decide: ({ waits }) =>
            waits.map(({ id }) => ({ type: 'wait_resolved', initiator: 'system', data: { waitId: id } })),
        });
      },
    };
    const { failure } = await new Performance({ ...named('sleep'), operations: [careless] }).perform();
    expect(failure).toBeDefined();
  });
});

function hashesOf({ world }: Performance): string[] {
  return [...world.db.runs.values()].flatMap(({ events }) => events.map(({ hash }) => hash));
}

/** The same workflow with all steps declared idempotent. */
function asIdempotent(workflow: Workflow): Workflow {
  const steps = [...workflow.steps].map(([id, step]) => [id, { ...step, idempotent: true }] as const);
  return { ...workflow, steps: new Map(steps) };
}

function has({ events }: JournalCommit, type: string): boolean {
  return events.some((event) => event.type === type);
}
