/** One trial: the code of a random tree runs as a flow under every possible fault. It must end, and as the reference does. */
import { z } from 'zod';
import { MAX_DEATHS_ALONE } from '../../../packages/cairn/src/core/decisions/ending-facts.ts';
import { CairnError, Fatal, OperationFailed } from '../../../packages/cairn/src/core/errors.ts';
import { MAX_TURNS_IN_A_RUN, partType } from '../../../packages/cairn/src/core/flow/parts.ts';
import { optional } from '../../../packages/cairn/src/core/optional.ts';
import type { EventType } from '../../../packages/cairn/src/core/run/events.ts';
import { isOver, stepKey } from '../../../packages/cairn/src/core/run/state.ts';
import { defineBinding, defineCapability } from '../../../packages/cairn/src/engine/define/capability.ts';
import type { Flow } from '../../../packages/cairn/src/engine/define/flow/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { RunDocuments } from '../../../packages/cairn/src/memory/memory-database.ts';
import { decideApproval } from '../../../packages/cairn/src/operations/approvals/decide-approval.ts';
import { deliverEvent } from '../../../packages/cairn/src/operations/events/deliver-event.ts';
import { startRun } from '../../../packages/cairn/src/operations/start/start-run.ts';
import { assertStored } from '../../support/soundness.ts';
import { settle } from '../../support/virtual-clock.ts';
import { World } from '../../support/world.ts';
import { Cluster } from '../chaos/cluster.ts';
import { drawTrouble, LEASE_MS } from '../chaos/trouble.ts';
import { Draw } from '../data/draw.ts';
import { assertLively } from '../liveness.ts';
import { drawLoop, type Loop, predictLoop, turnOf } from './loop.ts';
import { predict } from './reference.ts';
import { Failed, mixed, type Operations, runTree, worth } from './run-tree.ts';
import { drawTree, type Tree } from './tree.ts';

const TENANT = 't1';
/** Limit of moves, more than any of these trees needs. */
const MAX_TURNS = 60_000;
/** Maximum time until an answer, ms. */
const SOON_MS = 20_000;
/** Type of the parts of the loop. */
const PART = partType('coded', 'loop');
const RETRY = { maxAttempts: 12, initialMs: 100, capMs: 1_000 };

const act = defineCapability({
  id: 'outside.act',
  sideEffects: 'external_action',
  idempotency: 'required',
  request: z.object({ at: z.string() }),
  response: z.object({ worth: z.number() }),
});

type AnyFlow = Flow<Record<never, never>>;

const kid = defineWorkflow({
  type: 'kid',
  planVersion: 1,
  input: z.object({ at: z.string(), fails: z.boolean() }),
  run: async (flow, { at, fails }) => {
    await flow.sleep('nap', '2m');
    return flow.step('work', () => {
      if (fails) throw new Fatal('as drawn');
      return worth(at);
    });
  },
});

/** The operations of a tree as those of a flow. */
function durable(flow: AnyFlow): Operations {
  return {
    step: ({ name, ends }, at) =>
      flow.step(
        name,
        ({ attempt }) => {
          if (ends === 'fails') throw new Fatal('as drawn');
          if (ends === 'retried' && attempt === 1) throw new Error('as drawn');
          return worth(at);
        },
        { input: at, retry: RETRY },
      ),
    perform: async (at) => (await flow.perform(act, { at }, { name: 'act', retry: RETRY })).worth,
    sleep: ({ name, ms }) => flow.sleep(name, ms),
    event: ({ name }, at) => flow.event<number>(name, { event: 'told', key: at }),
    approval: async ({ name, isApproved }, at) => {
      await flow.approval(name, { question: isApproved ? 'yes' : 'no', details: at });
      return worth(at);
    },
    child: async ({ name, fails }, at) => (await flow.child(name, kid, { at, fails })).output ?? -1,
    map: ({ name, items, concurrency }, at) =>
      flow.map(
        name,
        Array.from({ length: items }, (_, i) => `${at}#${i}`),
        ({ item }) => worth(item),
        { concurrency },
      ),
    codeOf: (error) => {
      if (error instanceof OperationFailed || error instanceof Failed) return error.code;
      throw error;
    },
  };
}

export interface FlowTrialResult {
  readonly end: string;
  readonly operations: number;
  readonly met: ReadonlySet<EventType>;
}

/** @throws Error with the tree and the journal, if the end differs from the reference */
export async function flowTrial(seed: number): Promise<FlowTrialResult> {
  const draw = new Draw(seed);
  const tree = drawTree(draw);
  const trial = new Trial(seed, { tree, loop: drawLoop(draw) }, draw);
  try {
    return await trial.run();
  } catch (error) {
    throw trial.told(error);
  }
}

/** A task whose answers were lost is delivered again, which counts as a death of its worker. Three deaths may end a run. */
function isGivenUp({ events, snapshot }: RunDocuments): boolean {
  const lost = events.filter(({ type }) => type === 'orphan_detected' || type === 'worker_lost').length;
  return snapshot.error?.code === 'RUN_RESUME_FAILED' && lost >= MAX_DEATHS_ALONE;
}

class Trial {
  readonly #seed: number;
  readonly #tree: Tree;
  readonly #loop: Loop;
  readonly #draw: Draw;
  readonly #world: World;
  readonly #cluster: Cluster;
  /** Idempotency keys of external actions, by place. */
  readonly #keys = new Map<string, Set<string>>();
  readonly #seen = new Set<string>();

  constructor(seed: number, { tree, loop }: { readonly tree: Tree; readonly loop: Loop }, draw: Draw) {
    this.#seed = seed;
    this.#tree = tree;
    this.#loop = loop;
    this.#draw = draw;
    const workflow = defineWorkflow({
      type: 'coded',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({
        output: step.flow('flow', { uses: [act] }, (flow) => runTree(tree, durable(flow))),
        looped: step.loop('loop', {
          uses: [act],
          retry: RETRY,
          state: () => loop.first,
          while: ({ turn }) => turn < loop.turns,
          max: loop.turnsOfARun === undefined ? loop.turns + 1 : MAX_TURNS_IN_A_RUN + 1,
          ...(loop.pauseMs === undefined ? {} : { pause: loop.pauseMs }),
          body: async ({ state, turn, attempt, perform }) => {
            const at = turnOf(turn);
            if (loop.acts) await perform(act, { at });
            if (loop.isRetried && attempt === 1) throw new Error('as drawn');
            return mixed(state, worth(at));
          },
        }),
      }),
    });
    const binding = defineBinding(act, {
      id: 'outside-stand-in',
      call: async ({ at }, { idempotencyKey }) => {
        this.#keys.set(at, (this.#keys.get(at) ?? new Set()).add(idempotencyKey));
        return { worth: worth(at) };
      },
    });
    this.#world = new World({
      workflows: [workflow, kid],
      bindings: [binding],
      settings: { leaseMs: LEASE_MS, ...optional('turnsOfARun', loop.turnsOfARun) },
      seed,
    });
    const { clock, queue, db, deps, records, config, statistics, planStore } = this.#world;
    const shared = { ...deps, records, config, statistics, planStore };
    const drawn = drawTrouble(draw);
    const trouble = { ...drawn, cancels: false, pauses: false };
    this.#cluster = new Cluster({ clock, queue, db, deps: shared, sabotage: (own) => own }, draw, trouble);
    this.#cluster.plan(this.#cluster.now, {
      label: 'start',
      work: (own) =>
        startRun(own, {
          tenantId: TENANT,
          environment: 'test',
          input: {},
          trigger: { source: 'api' },
          source: 'api',
          key: `api:c.trial:${seed}`,
          requestHash: 'h',
          workflow,
        }),
    });
  }

  async run(): Promise<FlowTrialResult> {
    const { db } = this.#world;
    for (let turn = 0; !this.#isDone(); turn += 1) {
      this.#answer();
      const goesOn = this.#cluster.turn();
      await settle();
      if (this.#cluster.failure) throw this.#cluster.failure;
      if (!goesOn) throw new Error('stuck: nothing can ever happen again');
      if (turn >= MAX_TURNS) throw new Error('stuck: it goes on and on');
    }
    const [[runId, run]] = [...db.runs].filter(([, { snapshot }]) => !snapshot.parent) as [
      [string, typeof db.runs extends Map<string, infer R> ? R : never],
    ];
    assertLively(run.events);
    const state = assertStored(db, runId);
    const predicted = await predict(this.#tree);
    const looped = predictLoop(this.#loop);
    const isCompleted = state.status === 'completed';
    const result = isCompleted ? JSON.parse((state.result as { readonly text: string }).text) : {};
    const found = isCompleted ? result.output : `${state.status} ${state.error?.code}`;
    // For the run, an error of the code itself is an error of a body.
    const failsWith = predicted.failsWith === 'THROWN' ? 'STEP_FAILED' : predicted.failsWith;
    const expected = predicted.value ?? `failed ${failsWith}`;
    for (const [at, keys] of this.#keys)
      if (keys.size > 1) throw new Error(`it acted ${keys.size} times at ${at}`);
    const parts = [...db.runs.values()].filter(({ snapshot }) => snapshot.type === PART);
    if ([run, ...parts].some(isGivenUp)) return { end: 'given up', operations: 0, met: new Set() };
    if (found !== expected)
      throw new Error(`it ended as ${found}, and must as ${expected}: ${state.error?.message}`);
    if (isCompleted && result.looped !== looped.value) {
      throw new Error(`its loop ended as ${result.looped}, and must as ${looped.value}`);
    }
    // A failing run stops its loop anywhere.
    const isKnown = (at: string) => isCompleted || !looped.acted.includes(at);
    const acted = [...this.#keys.keys()].filter(isKnown).sort().join();
    const mustAct = [...predicted.acted, ...looped.acted].filter(isKnown).sort().join();
    if (acted !== mustAct) throw new Error(`it acted at ${acted}, and must at ${mustAct}`);
    const keys = [...state.steps.keys()];
    const operations = keys.filter((key) => key.startsWith('flow[')).length;
    if (operations !== predicted.operations) {
      throw new Error(`it has ${operations} operations, and must have ${predicted.operations}`);
    }
    const looping = [state, ...parts.map(({ snapshot }) => assertStored(db, snapshot.id))];
    const turned = looping
      .flatMap(({ steps }) => [...steps.keys()])
      .filter((key) => key.startsWith('loop[') && !key.startsWith('loop[part')).length;
    if (isCompleted ? turned !== looped.operations : turned > looped.operations) {
      throw new Error(`its loop has ${turned} operations, and must have ${looped.operations}`);
    }
    return { end: state.status, operations, met: new Set(run.events.map(({ type }) => type)) };
  }

  told(error: unknown): Error {
    const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const journals = [...this.#world.db.runs.values()].map(({ events }) =>
      events.map(({ seq, type, data }) => `${seq} ${type} ${JSON.stringify(data).slice(0, 160)}`).join('\n'),
    );
    const tree = JSON.stringify({ tree: this.#tree, loop: this.#loop }, undefined, 1);
    return new Error([`seed ${this.#seed}: ${why}`, tree, ...journals, ...this.#cluster.trail].join('\n\n'));
  }

  #isDone(): boolean {
    const { runs } = this.#world.db;
    const all = [...runs.values()];
    return all.length > 0 && all.every(({ snapshot }) => isOver(snapshot)) && this.#cluster.idle;
  }

  /** People and systems answer open questions, in their own time and sometimes twice. */
  #answer(): void {
    for (const [runId, { snapshot }] of this.#world.db.runs) {
      for (const wait of snapshot.waits) {
        const name = `${runId} ${wait.id}`;
        if (this.#seen.has(name)) continue;
        this.#seen.add(name);
        for (let times = this.#draw.chance(0.2) ? 2 : 1; times > 0; times -= 1) {
          const at = this.#cluster.now + this.#draw.below(SOON_MS);
          if (wait.kind === 'event') this.#send(name, wait.key ?? '', at);
          if (wait.kind === 'approval') this.#decide(runId, wait, at);
        }
      }
    }
  }

  #send(eventId: string, key: string, at: number): void {
    const sent = { tenantId: TENANT, event: 'told', key, data: worth(key), eventId, actor: 'u1' };
    this.#cluster.plan(at, { label: `send ${key}`, work: (deps) => deliverEvent(deps, sent) });
  }

  #decide(
    runId: string,
    wait: {
      readonly id: string;
      readonly execution: Parameters<typeof stepKey>[0];
      readonly detailText?: string;
    },
    at: number,
  ): void {
    const { question } = JSON.parse(wait.detailText ?? '{}') as { readonly question: string };
    const request = {
      runId,
      tenantId: TENANT,
      stepId: stepKey(wait.execution),
      waitId: wait.id,
      actor: 'u1',
    };
    const decision = question === 'yes' ? 'approve' : 'reject';
    this.#cluster.plan(at, {
      label: `decide ${request.stepId}`,
      work: (deps) =>
        decideApproval(deps, {
          ...request,
          decision,
          note: undefined,
          feedback: undefined,
          steps: undefined,
        }).catch((error) => {
          // The run was faster: an earlier sending had arrived.
          if (!(error instanceof CairnError) || error.httpStatus >= 500) throw error;
        }),
    });
  }
}
