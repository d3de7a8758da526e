/**
 * An installation with a Firestore server in this process and a queue that lost every task, as after an outage of the queue. Only
 * a test advances its clock.
 */
import { Firestore } from '@google-cloud/firestore';
import type { EngineDeps } from '../../packages/cairn/src/engine/deps.ts';
import { LOCAL_SETTINGS } from '../../packages/cairn/src/engine/settings.ts';
import { startRun } from '../../packages/cairn/src/operations/start/start-run.ts';
import { FirestoreIdempotencyStore } from '../../packages/cairn/src/store/firestore-idempotency-store.ts';
import { FirestoreRunStore } from '../../packages/cairn/src/store/firestore-run-store.ts';
import { Installation } from '../../packages/cairn/src/testing/world/installation.ts';
import { type FirestoreServer, startFirestoreServer } from '../../packages/local-firestore/src/server.ts';
import { SCANNED, type ScannedType } from './workflows.ts';

export const OVERDUE_MS = 120_000;
const STARTS_AT_ONCE = 32;

export interface Overdue {
  readonly deps: EngineDeps;
  /** Ids of the runs that were enqueued since the start, in order. */
  readonly enqueued: readonly string[];
  readonly meter: FirestoreServer['meter'];
  /** Starts runs whose tasks are lost. */
  start(type: ScannedType, runs: number): Promise<readonly string[]>;
  /** Advances time until all runs started so far are overdue. */
  pass(): void;
  pause(type: string): Promise<void>;
  close(): Promise<void>;
}

export async function overdue(indexesFile: string): Promise<Overdue> {
  const quiet = { debug() {}, info() {}, warn() {}, error() {} };
  const installation = new Installation({ workflows: SCANNED, settings: LOCAL_SETTINGS, logTo: () => quiet });
  const { clock, config } = installation;
  const server = await startFirestoreServer({
    storage: { kind: 'memory' },
    clock: () => clock.now(),
    indexesFile,
  });
  // Keeps the client from looking for credentials on the network.
  process.env.METADATA_SERVER_DETECTION = 'none';
  const [host = '', port] = server.host.split(':');
  const db = new Firestore({ projectId: 'overdue', host: `${host}:${port}`, ssl: false });
  const enqueued: string[] = [];
  const deps: EngineDeps = {
    ...installation.deps,
    store: new FirestoreRunStore(db),
    queue: { enqueue: async ({ runId }) => void enqueued.push(runId) },
  };
  const lost = { ...deps, queue: { enqueue: () => Promise.reject(new Error('the queue is away')) } };
  const records = new FirestoreIdempotencyStore(db);
  return {
    deps,
    enqueued,
    meter: server.meter,
    async start(type, runs) {
      const workflow = SCANNED.find((one) => one.type === type);
      if (!workflow) throw new Error(`no workflow '${type}'`);
      const ids: string[] = [];
      let left = runs;
      const starters = Array.from({ length: Math.min(runs, STARTS_AT_ONCE) }, async () => {
        while (left > 0) {
          left -= 1;
          const started = await startRun(
            { ...lost, records },
            {
              tenantId: 't1',
              environment: 'test',
              workflow,
              input: {},
              trigger: { source: 'api' },
              source: 'api',
              key: undefined,
              requestHash: 'h',
            },
          );
          if (started.kind === 'in_flight') throw new Error('in flight');
          ids.push(started.runId);
        }
      });
      await Promise.all(starters);
      return ids;
    },
    pass: () => clock.jump(OVERDUE_MS),
    async pause(type) {
      const stored = await config.read();
      const mark = { since: clock.now(), by: 'bench' };
      const paused = new Map([...(stored?.config.paused ?? []), [type, mark] as const]);
      await config.write({ killSwitch: false, paused }, stored?.version);
    },
    async close() {
      await db.terminate();
      await server.stop();
    },
  };
}
