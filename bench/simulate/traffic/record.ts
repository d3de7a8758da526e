/**
 * Runs a workflow once on the real engine with a Firestore server in this process, and records every billed request in order,
 * with the duration of bodies. Time is simulated, so that a long body takes no real time.
 */
import { fileURLToPath } from 'node:url';
import { Firestore } from '@google-cloud/firestore';
import { z } from 'zod';
import { isOver } from '../../../packages/cairn/src/core/run/state.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { EngineDeps } from '../../../packages/cairn/src/engine/deps.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { PRODUCTION_SETTINGS } from '../../../packages/cairn/src/engine/settings.ts';
import { driveRequestOf } from '../../../packages/cairn/src/memory/memory-task-queue.ts';
import { DELETES_A_COMMIT } from '../../../packages/cairn/src/operations/retention/tick-budget.ts';
import { startRun } from '../../../packages/cairn/src/operations/start/start-run.ts';
import type { Log } from '../../../packages/cairn/src/ports/log.ts';
import { FirestoreIdempotencyStore } from '../../../packages/cairn/src/store/firestore-idempotency-store.ts';
import { FirestoreRunStore } from '../../../packages/cairn/src/store/firestore-run-store.ts';
import { FirestoreRetentionStore } from '../../../packages/cairn/src/store/retention/firestore-retention-store.ts';
import { Installation } from '../../../packages/cairn/src/testing/world/installation.ts';
import { intercept } from '../../../packages/cairn/src/testing/world/intercept.ts';
import { settle } from '../../../packages/cairn/src/testing/world/virtual-clock.ts';
import type { Meter } from '../../../packages/local-firestore/src/meter.ts';
import { startFirestoreServer } from '../../../packages/local-firestore/src/server.ts';
import { GrowingIndexes } from './growing-indexes.ts';
import { type Profile, totalOf } from './profile.ts';
import { Recorder } from './recorder.ts';

export interface Recorded {
  readonly steps: number;
  readonly bodyMs: number;
  /** True for all bodies at once, as far as the engine allows; otherwise one after the other. */
  readonly parallel: boolean;
}

const INDEXES = fileURLToPath(new URL('../../../firestore.indexes.json', import.meta.url));
/** The size of the results in the benchmarks. */
const RESULT = { text: 'x'.repeat(200) };
/** Maximum of turns; more means an endless loop. */
const MAX_TURNS = 1_000_000;

export async function record({ steps, bodyMs, parallel }: Recorded): Promise<Profile> {
  let bodies: Bodies | undefined;
  const workflow = defineWorkflow({
    type: 'simulated',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      let before: Record<string, unknown> = {};
      for (let n = 1; n <= steps; n += 1) {
        const needs = (parallel ? {} : before) as Record<string, never>;
        const timeout = `${Math.ceil(bodyMs / 1000) + 60}s` as const;
        before = { before: step(`step-${n}`, { needs, timeout }, async () => bodies?.run() ?? RESULT) };
      }
      return {};
    },
  });
  const logged = { lines: 0, bytes: 0 };
  const line = (event: string, fields: object = {}) => {
    logged.lines += 1;
    logged.bytes += Buffer.byteLength(JSON.stringify({ severity: 'INFO', message: event, ...fields }));
  };
  const log: Log = { debug() {}, info: line, warn: line, error: line };
  const world = new Installation({ workflows: [workflow], settings: PRODUCTION_SETTINGS, logTo: () => log });
  const { clock } = world;
  const server = await startFirestoreServer({
    storage: { kind: 'memory' },
    clock: () => clock.now(),
    indexesFile: INDEXES,
  });
  // Keeps the client from looking for credentials on the network.
  process.env.METADATA_SERVER_DETECTION = 'none';
  const [host = '', port] = server.host.split(':');
  const db = new Firestore({ projectId: 'simulated', host: `${host}:${port}`, ssl: false });
  try {
    const recorder = new Recorder({ meter: server.meter, clock, db, indexes: new GrowingIndexes(INDEXES) });
    bodies = { run: () => recorder.body(clock, bodyMs, RESULT) };
    let underWay = 0;
    const watched = <T extends object>(port: T): T =>
      intercept(port, async (_, proceed) => {
        underWay += 1;
        try {
          return await proceed();
        } finally {
          await recorder.lookAtCommits();
          underWay -= 1;
        }
      });
    const store = watched(new FirestoreRunStore(db));
    const records = watched(new FirestoreIdempotencyStore(db));
    const deps: EngineDeps = { ...world.deps, store };
    // Warm-up: the first start of a version stores its plan, and a process reads some documents only once.
    await startRun({ ...deps, records }, request(workflow, 'first'));
    world.queue.take();
    await recorder.lookAtCommits();
    Object.assign(logged, { lines: 0, bytes: 0 });
    recorder.begin('start');
    const started = await startRun({ ...deps, records }, request(workflow, 'second'));
    if (started.kind !== 'created') throw new Error(`the run was not created: ${started.kind}`);
    const { runId } = started;
    const overdueMs = (await recorder.wakeAtOf(runId)) - clock.now();
    let tasks = world.queue.pending.length;
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      const task = world.queue.due(clock.now())[0];
      if (task) {
        world.queue.take(task.id);
        recorder.begin('dispatch');
        let isDone = false;
        const driven = drive(deps, driveRequestOf(task)).finally(() => {
          isDone = true;
        });
        while (!isDone) {
          await settle();
          if (!isDone && underWay === 0) clock.fireNext();
        }
        await driven;
        tasks += world.queue.pending.length;
        continue;
      }
      const loaded = await recorder.unseen(() => new FirestoreRunStore(db).load(runId));
      if (loaded && isOver(loaded.state)) {
        if (loaded.state.status !== 'completed') throw new Error(`the run is ${loaded.state.status}`);
        const traffic = recorder.recorded(runId);
        const [recorded, billed] = [totalOf(traffic).writes, server.meter.run(runId)?.writes];
        if (recorded !== billed) throw new Error(`${recorded} writes were recorded, and ${billed} billed`);
        return {
          steps,
          bodyMs,
          parallel,
          ...traffic,
          deletion: await deletionOf(db, server.meter, runId),
          tasks,
          logLines: logged.lines,
          logBytes: logged.bytes,
          overdueMs,
        };
      }
      const next = world.queue.nextAt();
      if (next === undefined) throw new Error('the run waits for nobody');
      clock.jump(next - clock.now());
    }
    throw new Error('the run does not end');
  } finally {
    await db.terminate();
    await server.stop();
  }
}

/** Deletes the run like retention does. */
async function deletionOf(db: Firestore, meter: Meter, runId: string): Promise<Profile['deletion']> {
  const retention = new FirestoreRetentionStore(db);
  const [member] = await retention.lineage(runId, 1);
  if (!member) throw new Error('the run has no lineage');
  const before = meter.snapshot().total;
  for (const piece of ['deleteUnder', 'deleteEffects'] as const)
    while ((await retention[piece](runId, DELETES_A_COMMIT)).more);
  if ((await retention.deleteRun(runId, member.version)).kind === 'stale')
    throw new Error('the run was written');
  const { reads, deletes } = meter.snapshot().total;
  return { reads: reads - before.reads, deletes: deletes - before.deletes };
}

interface Bodies {
  run(): Promise<typeof RESULT>;
}

function request(
  workflow: Parameters<typeof startRun>[1]['workflow'],
  key: string,
): Parameters<typeof startRun>[1] {
  return {
    tenantId: 't1',
    environment: 'production',
    workflow,
    input: {},
    trigger: { source: 'api' },
    source: 'api',
    key: `api:c.1:${key}`,
    requestHash: 'h',
  };
}
