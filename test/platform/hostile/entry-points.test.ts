import { Firestore } from '@google-cloud/firestore';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { otherRuns } from '../../../packages/cairn/src/operations/other-runs.ts';
import { withDeadlines } from '../../../packages/cairn/src/platform/clients/bounded.ts';
import { lazyCommitChannel } from '../../../packages/cairn/src/platform/clients/commit-channel.ts';
import { systemClock } from '../../../packages/cairn/src/platform/clock.ts';
import { storesOn } from '../../../packages/cairn/src/platform/stores.ts';
import { GRPC_STATUS } from '../../../packages/cairn/src/ports/grpc-outcome.ts';
import { OutcomeUnknown } from '../../../packages/cairn/src/ports/store-errors.ts';
import { RequestBudget } from '../../../packages/cairn/src/store/request-budget.ts';
import { githubWebhook } from '../../../packages/cairn/src/triggers/github/webhook.ts';
import { type FirestoreServer, startFirestoreServer } from '../../../packages/local-firestore/src/server.ts';
import { deliveryRequest, Installation } from '../../api/installation.ts';
import { HostileGrpc, type Mood } from '../../support/hostile-grpc.ts';

/** Deadline of calls without a response. Other calls have enough time for a slow machine. */
const SOON_MS = 200;
const LONG_MS = 60_000;
/** Each test waits for the timeout of calls to the store, so this takes minutes on any machine. */
const MAX_REQUESTS = 600;

const MOODS: readonly [string, Mood][] = [
  ['deaf', 'deaf'],
  ['silent', 'silent'],
  ['unavailable', GRPC_STATUS.UNAVAILABLE],
  ['exhausted', GRPC_STATUS.RESOURCE_EXHAUSTED],
];

let server: FirestoreServer;
let hostile: HostileGrpc;
let host: string;
const storeTime = Date.UTC(2026, 0, 1);
/** Called by the body of the workflow. */
let inBody: () => void;
const clients: Firestore[] = [];

beforeAll(async () => {
  process.env.METADATA_SERVER_DETECTION = 'none';
  server = await startFirestoreServer({
    storage: { kind: 'memory' },
    clock: () => storeTime,
    indexesFile: 'firestore.indexes.json',
  });
  hostile = new HostileGrpc(server.host);
  host = await hostile.start();
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.terminate()));
  await hostile.stop();
  await server.stop();
});
beforeEach(() => {
  hostile.heal();
  inBody = () => {};
});

const workflow = defineWorkflow({
  type: 'sized',
  planVersion: 1,
  input: z.looseObject({}),
  on: { github: { event: 'push' } },
  steps: (step) => ({
    size: step('size', () => {
      inBody();
      return {};
    }),
  }),
});

interface Patience {
  /** For calls without a response. Other calls have enough time for a slow machine. */
  readonly deadlineMs: number;
  /** Time for repeating calls with an unknown outcome. */
  readonly patienceMs: number;
}
const PATIENT: Patience = { deadlineMs: LONG_MS, patienceMs: LONG_MS };

/** An installation whose documents are behind the hostile server. */
function installed(project: string, { deadlineMs, patienceMs }: Patience = PATIENT) {
  const installation = new Installation([workflow]);
  // Read for each call.
  const now = () => (hostile.mood === 'well' ? LONG_MS : deadlineMs);
  const db = withDeadlines(new Firestore({ projectId: project, host, ssl: false }), {
    clock: systemClock,
    deadlines: {
      get commitMs() {
        return now();
      },
      get readMs() {
        return now();
      },
    },
  });
  clients.push(db);
  const commits = lazyCommitChannel({ project, emulator: host, deadlineMs: now });
  const { runs: store, records, ...stores } = storesOn(db, { collectionPrefix: 'gwi_', shards: 16 }, commits);
  const settings = { ...installation.world.deps.settings, patienceMs, flushMs: LONG_MS };
  const world = { ...installation.world.deps, clock: systemClock, store, settings };
  const engine = { ...world, mailboxes: stores.mailboxes, effects: stores.effects };
  const deps = { ...engine, otherRuns: otherRuns({ ...engine, records }) };
  const api = createApi({ ...installation.apiDeps, ...deps, records });
  const github = { ...installation.github, ...deps, records };
  return { installation, deps, api, github };
}

/** Sends a request as the platform's entry points do. */
function withBudget(budgetMs: number, answer: () => Response | Promise<Response>): Promise<Response> {
  return new RequestBudget(systemClock, budgetMs).run(async () => answer());
}

/** Repeats a request that was answered 503: the client of the store connects again after its back-off. */
async function askedUntilTaken(ask: () => Response | Promise<Response>): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const answer = await withBudget(LONG_MS, ask);
    if (answer.status !== 503 || attempt === MAX_REQUESTS) return answer;
  }
}

describe.each(MOODS)('with a store that is %s', (name, mood) => {
  test('every entry point answers 503 when its time is up, and accepts the same request when the store recovers', async () => {
    const { installation, api, github } = installed(`requests-${name}`);
    const key = await installation.key('dev');
    const entryPoints: Record<string, () => Response | Promise<Response>> = {
      start: () =>
        api.request('/v1/runs', {
          method: 'POST',
          body: JSON.stringify({ type: 'sized', input: {} }),
          headers: {
            authorization: `Bearer ${key}`,
            'content-type': 'application/json',
            'idempotency-key': 'k1',
          },
        }),
      list: () => api.request('/v1/runs', { headers: { authorization: `Bearer ${key}` } }),
      github: () => githubWebhook(github, deliveryRequest({ event: 'push', id: 'delivery-1' })),
    };
    hostile.mood = mood;
    for (const [entryPoint, ask] of Object.entries(entryPoints)) {
      const answer = await withBudget(SOON_MS, ask);
      expect([entryPoint, answer.status, answer.headers.get('retry-after')]).toEqual([entryPoint, 503, '2']);
    }
    hostile.heal();
    for (const [entryPoint, ask] of Object.entries(entryPoints)) {
      const answer = await askedUntilTaken(ask);
      expect([entryPoint, answer.status < 300]).toEqual([entryPoint, true]);
    }
  });

  test('a dispatch returns the run to the queue, and a later one completes it', async () => {
    const project = `drive-${name}`;
    const isAnswered = typeof mood === 'number';
    const { deps } = installed(project, { deadlineMs: isAnswered ? LONG_MS : SOON_MS, patienceMs: SOON_MS });
    const patient = installed(project);
    const runId = await startOn(patient);
    inBody = () => {
      hostile.mood = mood;
    };
    const delivery = { name: 'drive/task', retryCount: 0 };
    await drive(deps, { runId, delivery }).then(
      (end) => expect(end).toBe('it cannot end'),
      (error) => expect(error).toBeInstanceOf(OutcomeUnknown),
    );
    await expect(drive(deps, { runId })).rejects.toThrow(OutcomeUnknown);

    hostile.heal();
    inBody = () => {};
    // The lease is still valid, but the run's own dispatch reported that it could not continue. So there is neither a death nor a wait.
    const again = { ...delivery, retryCount: 1, answered: true };
    expect(await drive(patient.deps, { runId, delivery: again })).toBe('closed');
    const state = (await patient.deps.store.load(runId))?.state;
    expect(state?.status).toBe('completed');
    expect(state?.suspect).toBeUndefined();
  });
});

async function startOn({ installation, api }: ReturnType<typeof installed>): Promise<string> {
  const key = await installation.key('dev');
  const answer = await api.request('/v1/runs', {
    method: 'POST',
    body: JSON.stringify({ type: 'sized', input: {} }),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  });
  return ((await answer.json()) as { runId: string }).runId;
}
