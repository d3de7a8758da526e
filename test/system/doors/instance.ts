/**
 * An instance of the functions with all its doors, over ports each of whose calls may be its last, and the installation
 * that outlives it: in memory, in time that only a test moves.
 *
 * Must not: decide who knocks, or what goes wrong.
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
import { SLACK_SECRET } from '../../triggers/slack/door.ts';

export const TENANT = 'acme';
const TEAM = 'T1';
export const TOPIC = 'orders';

/** Workflow of all sources: one step that counts its runs. */
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

export class Doors {
  /** Runs whose step ran, once for each time. */
  readonly ran: string[] = [];
  readonly installation = new Installation([counted(this.ran)]);
  /** Key of a client with all roles. */
  key = '';
  #instances = 0;

  static async make(): Promise<Doors> {
    const doors = new Doors();
    doors.key = await doors.installation.key('boss', { tenantId: TENANT, roles: ['installation'] });
    return doors;
  }

  get world(): Installation['world'] {
    return this.installation.world;
  }

  /** @param disturbances what goes wrong, by the number of the call it makes */
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
    throw new Error('a request that neither ends nor dies');
  }
}

/** A request takes a few; one that is sent again and again at most some dozens. */
const MAX_TURNS = 200;

type DoorPorts = ProcessDeps & {
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
    const base: DoorPorts = { ...deps, effects, records, config, statistics, schedules, planStore, clients };
    this.calls = new Calls(disturbances);
    this.process = new Process({
      base,
      calls: this.calls,
      seed,
      onApplied: () => {},
      onDisturbed: () => {},
    });
    // It has returned all connections, each call counted.
    const ports = this.process.deps as DoorPorts;
    const start = { ...ports, recent: new RecentStarts() };
    const { registry, environment } = apiDeps;
    this.api = createApi({ ...apiDeps, ...ports, start });
    this.github = { ...installation.github, start };
    this.slack = {
      start,
      registry,
      environment,
      secrets: () => [SLACK_SECRET],
      tenants: () => new Map([[TEAM, TENANT]]),
    };
    this.pubsub = { start, deliver: start, registry, environment, tenantId: TENANT };
    this.schedules = { ...start, environment, declaredTenant: TENANT };
  }
}
