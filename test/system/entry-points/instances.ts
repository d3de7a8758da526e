/**
 * Instances of the functions with all entry points, each over ports that can crash it at any call, and the installation in
 * memory that outlives them. Only a test moves its time.
 *
 * Must not: decide which requests are sent, or which call fails.
 */
import { z } from 'zod';
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { RecentStarts } from '../../../packages/cairn/src/operations/start/recent-starts.ts';
import type { ClientStore } from '../../../packages/cairn/src/ports/access/client-store.ts';
import type { ExternalEffectStore } from '../../../packages/cairn/src/ports/runs/effect-store.ts';
import type { ScheduleStore } from '../../../packages/cairn/src/ports/schedule-store.ts';
import type { GithubDeps } from '../../../packages/cairn/src/triggers/github/webhook.ts';
import type { PubsubDeps } from '../../../packages/cairn/src/triggers/pubsub/take-message.ts';
import type { TickDeps } from '../../../packages/cairn/src/triggers/schedule/tick.ts';
import type { SlackDeps } from '../../../packages/cairn/src/triggers/slack/deps.ts';
import { Installation } from '../../api/installation.ts';
import { settle } from '../../support/virtual-clock.ts';
import { Calls, type Disturbance } from '../../sweep/calls.ts';
import { Process, type ProcessDeps } from '../../sweep/process.ts';
import { SLACK_SECRET } from '../../triggers/slack/endpoint.ts';

export const TENANT = 'acme';
const TEAM = 'T1';
export const TOPIC = 'orders';

/** Workflow that every entry point starts: one step that records its run. */
function counted(ran: string[]): Workflow {
  return defineWorkflow({
    type: 'counted',
    planVersion: 1,
    input: z.unknown(),
    on: {
      github: [{ event: 'pull_request', actions: ['opened'] }],
      slack: { command: '/deploy' },
      pubsub: [{ topic: TOPIC }],
    },
    steps: (step) => ({
      done: step('do', ({ runId }) => {
        ran.push(runId);
        return 1;
      }),
    }),
  });
}

export class Instances {
  /** Ids of the runs, one for each execution of the step. */
  readonly ran: string[] = [];
  readonly installation = new Installation([counted(this.ran)]);
  /** Key of a client with all roles. */
  key = '';
  #instances = 0;

  static async make(): Promise<Instances> {
    const instances = new Instances();
    instances.key = await instances.installation.key('boss', { tenantId: TENANT, roles: ['installation'] });
    return instances;
  }

  get world(): Installation['world'] {
    return this.installation.world;
  }

  /** @param disturbances failures, by the number of the call */
  open(disturbances: readonly Disturbance[] = []): Instance {
    this.#instances += 1;
    return new Instance(this.installation, disturbances, this.#instances);
  }

  /**
   * Result of the work, moving time as needed; undefined if the instance died during it.
   *
   * @throws Error if it neither ends nor dies
   */
  async outcomeOf<T>(instance: Instance, work: Promise<T>): Promise<T | undefined> {
    let outcome: { readonly value: T } | { readonly error: unknown } | undefined;
    work.then(
      (value) => (outcome = { value }),
      (error: unknown) => (outcome = { error }),
    );
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      await settle();
      if (outcome && 'error' in outcome) throw outcome.error;
      if (outcome) return outcome.value;
      if (!instance.process.alive) return undefined;
      this.world.clock.fireNext();
    }
    throw new Error('The request does not end, and its instance is alive.');
  }
}

/** A request takes a few turns, a repeated one some dozens. */
const MAX_TURNS = 200;

type InstancePorts = ProcessDeps & {
  readonly schedules: ScheduleStore;
  readonly clients: ClientStore;
  readonly effects: ExternalEffectStore;
};

export class Instance {
  readonly process: Process;
  readonly calls: Calls;
  readonly api: ReturnType<typeof createApi>;
  readonly github: GithubDeps;
  readonly slack: SlackDeps;
  readonly schedules: TickDeps;
  readonly pubsub: PubsubDeps;

  constructor(installation: Installation, disturbances: readonly Disturbance[], seed: number) {
    const { world, apiDeps, clients } = installation;
    const { deps, effects, records, config, statistics, schedules, planStore } = world;
    const base: InstancePorts = {
      ...deps,
      effects,
      records,
      config,
      statistics,
      schedules,
      planStore,
      clients,
    };
    this.calls = new Calls(disturbances);
    this.process = new Process({
      base,
      calls: this.calls,
      seed,
      onApplied: () => {},
      onDisturbed: () => {},
    });
    // `Process` returns all ports that it was given, with each call counted.
    const ports = this.process.deps as InstancePorts;
    const start = { ...ports, recent: new RecentStarts() };
    const { environment } = apiDeps;
    this.api = createApi({ ...apiDeps, ...start });
    this.github = { ...installation.github, ...start };
    this.slack = {
      ...start,
      environment,
      secrets: () => [SLACK_SECRET],
      tenants: () => new Map([[TEAM, TENANT]]),
    };
    this.pubsub = { ...start, environment, tenantId: TENANT };
    this.schedules = { ...start, environment, declaredTenant: TENANT };
  }
}
