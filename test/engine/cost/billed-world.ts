/**
 * An installation in the local Firestore, which bills like the service. Tests compare the cost that runs report with its meter.
 */
import { Firestore } from '@google-cloud/firestore';
import { type FullCost, fullCost } from '../../../packages/cairn/src/core/cost/cost.ts';
import { isOver } from '../../../packages/cairn/src/core/run/state.ts';
import type { Binding } from '../../../packages/cairn/src/engine/define/capability.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import type { EngineDeps } from '../../../packages/cairn/src/engine/deps.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { driveRequestOf } from '../../../packages/cairn/src/memory/memory-task-queue.ts';
import { otherRuns } from '../../../packages/cairn/src/operations/other-runs.ts';
import { startRun } from '../../../packages/cairn/src/operations/start/start-run.ts';
import { callsByFrames } from '../../../packages/cairn/src/platform/clients/calls-by-frames.ts';
import { Wire } from '../../../packages/cairn/src/platform/clients/wire.ts';
import type { EventBus } from '../../../packages/cairn/src/ports/runs/event-bus.ts';
import { scan } from '../../../packages/cairn/src/recovery/scan.ts';
import { FirestoreMailboxStore } from '../../../packages/cairn/src/store/firestore-documents.ts';
import { FirestoreEffectStore } from '../../../packages/cairn/src/store/firestore-effect-store.ts';
import { FirestoreIdempotencyStore } from '../../../packages/cairn/src/store/firestore-idempotency-store.ts';
import { FirestoreRunStore } from '../../../packages/cairn/src/store/firestore-run-store.ts';
import type { PageBudget } from '../../../packages/cairn/src/store/pages/spill.ts';
import { type FirestoreServer, startFirestoreServer } from '../../../packages/local-firestore/src/server.ts';
import { settle } from '../../support/virtual-clock.ts';
import { plainStart, World } from '../../support/world.ts';

export type Bill = Pick<FullCost, 'reads' | 'writes' | 'deletes'>;

export interface Installed {
  readonly workflows: readonly Workflow[];
  readonly bindings?: readonly Binding[];
  readonly bus?: EventBus;
  /** Size bounds of run documents. Default: as in production. */
  readonly pages?: PageBudget;
}

/** Empty queries of every tick that belong to no run: for runs of more shards, and for silent runs that are running or replaying. */
const LOOKS_OF_A_TICK = 3;
/** Longer times, for a busy machine. */
const PATIENCE = { readMs: 120_000, commitMs: 120_000 };
/** Turns of the queue after which a run counts as endless. */
const MAX_TURNS = 200;

/** One server for all tests of a file. Each world is a project of its own. */
export class BilledWorlds {
  #server: FirestoreServer | undefined;
  readonly #clients: Firestore[] = [];
  #clock: () => number = () => 0;

  async make(installed: Installed): Promise<BilledWorld> {
    this.#server ??= await startFirestoreServer({
      storage: { kind: 'memory' },
      clock: () => this.#clock(),
      indexesFile: 'firestore.indexes.json',
    });
    process.env.METADATA_SERVER_DETECTION = 'none';
    process.env.FIRESTORE_EMULATOR_HOST = this.#server.host;
    const db = new Firestore({ projectId: `billed-${this.#clients.length}` });
    // The calls are the same, but without HTTP/2, which takes as much time as everything else.
    callsByFrames(db, new Wire(this.#server.host), PATIENCE);
    this.#clients.push(db);
    const world = new World(installed);
    this.#clock = () => world.clock.now();
    this.#server.meter.reset();
    return new BilledWorld(world, { db, server: this.#server, pages: installed.pages });
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.terminate()));
    await this.#server?.stop();
  }
}

export class BilledWorld {
  readonly world: World;
  readonly db: Firestore;
  readonly deps: EngineDeps;
  readonly records: FirestoreIdempotencyStore;
  readonly #server: FirestoreServer;
  /** Tasks that were delivered. */
  delivered = 0;
  /** Reads that no run reports: those of a scan that finds nothing, and those of the test itself. */
  #others = 0;

  constructor(
    world: World,
    {
      db,
      server,
      pages,
    }: { readonly db: Firestore; readonly server: FirestoreServer; readonly pages: PageBudget | undefined },
  ) {
    this.world = world;
    this.db = db;
    this.#server = server;
    this.records = new FirestoreIdempotencyStore(db);
    const stores = {
      store: new FirestoreRunStore(db, undefined, undefined, { budget: pages }),
      effects: new FirestoreEffectStore(db),
      mailboxes: new FirestoreMailboxStore(db),
    };
    const base = { ...world.deps, ...stores };
    this.deps = { ...base, otherRuns: otherRuns({ ...base, records: this.records }) };
  }

  async start(type: string, input: unknown = {}): Promise<string> {
    const workflow = this.deps.registry.newest(type);
    if (!workflow) throw new Error(`no workflow '${type}'`);
    const outcome = await startRun(
      { ...this.deps, records: this.records },
      { ...plainStart(workflow, input), key: 'api:c.1:k' },
    );
    if (outcome.kind !== 'created') throw new Error(outcome.kind);
    return outcome.runId;
  }

  /** Delivers the tasks one by one, and advances time when there are none, until `done`. */
  async run(done: () => Promise<boolean>, deps = this.deps): Promise<void> {
    const { clock, queue } = this.world;
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      const due = queue.due(clock.now());
      for (const task of due) {
        queue.take(task.id);
        this.delivered += 1;
        await drive(deps, driveRequestOf(task));
      }
      if (due.length > 0) continue;
      if (await done()) return;
      const next = queue.nextAt();
      if (next !== undefined) clock.jump(Math.max(0, next - clock.now()));
      await settle();
    }
    throw new Error('it does not end');
  }

  /** Runs one tick of the scan, after the lease of the dead worker. */
  async scanAfter(ms: number): Promise<void> {
    this.world.clock.jump(ms);
    const { found } = await scan(this.deps);
    this.#others += found === 0 ? LOOKS_OF_A_TICK + 1 : LOOKS_OF_A_TICK;
  }

  async isOver(runId: string): Promise<boolean> {
    return this.#look(async () => {
      const loaded = await this.deps.store.load(runId);
      return loaded !== undefined && isOver(loaded.state);
    });
  }

  async costOf(runId: string): Promise<FullCost> {
    return this.#look(async () => fullCost((await this.deps.store.load(runId))?.metadata.cost));
  }

  /** Everything billed since the world was made, except reads of the test itself. */
  billed(): Bill {
    const { reads, writes, deletes } = this.#server.meter.snapshot().total;
    return { reads: reads - this.#others, writes, deletes };
  }

  async #look<T>(look: () => Promise<T>): Promise<T> {
    const before = this.#server.meter.snapshot().total.reads;
    const seen = await look();
    this.#others += this.#server.meter.snapshot().total.reads - before;
    return seen;
  }
}
