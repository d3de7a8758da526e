/** An installation in memory with the API and the GitHub webhook, and requests to them. */
import { createHmac, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { createApi } from '../../packages/cairn/src/api/app.ts';
import type { ApiDeps, DiagnosisParts } from '../../packages/cairn/src/api/deps.ts';
import { API_CONCURRENCY } from '../../packages/cairn/src/api/limits.ts';
import { type BudgetOptions, dayLimits } from '../../packages/cairn/src/core/budget/day-limits.ts';
import { sha256Hex } from '../../packages/cairn/src/core/encoding/hash.ts';
import type { Binding } from '../../packages/cairn/src/engine/define/capability.ts';
import { retentionIn } from '../../packages/cairn/src/engine/define/retention.ts';
import type { Workflow } from '../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { MemoryRunFinder } from '../../packages/cairn/src/memory/memory-run-finder.ts';
import { InstanceMetrics } from '../../packages/cairn/src/platform/telemetry/instance-metrics.ts';
import type { Role } from '../../packages/cairn/src/ports/access/client-store.ts';
import { githubTenantsIn } from '../../packages/cairn/src/triggers/github/tenants.ts';
import { type GithubDeps, githubWebhook } from '../../packages/cairn/src/triggers/github/webhook.ts';
import { MemoryClientStore } from '../support/memory/memory-client-store.ts';
import { MemoryErasureStore } from '../support/memory/memory-erasure-store.ts';
import { MemoryIntegrityStore } from '../support/memory/memory-integrity-store.ts';
import { MemoryLogStore } from '../support/memory/memory-log-store.ts';
import { MemoryRetentionStore } from '../support/memory/memory-retention-store.ts';
import { MemoryRunListWatch } from '../support/memory/memory-run-list-watch.ts';
import { MemoryRunWatch } from '../support/memory/memory-run-watch.ts';
import { pretendedDiagnosis } from '../support/pretended-diagnosis.ts';
import { World } from '../support/world.ts';

/** Returns its input. */
export const echo = defineWorkflow({
  type: 'echo',
  planVersion: 1,
  input: z.object({ text: z.string() }),
  steps: (step) => ({ said: step('say', ({ input }) => ({ text: input.text })) }),
});

export const GITHUB_SECRET = 'a secret that GitHub knows as well';
const SECRET = 'abcdefghijklmnopqrstuvwxyz012345';

export interface Key {
  readonly tenantId?: string;
  readonly roles?: readonly Role[];
  readonly disabled?: boolean;
}

export class Installation {
  readonly world: World;
  readonly metrics = new InstanceMetrics();
  readonly clients: MemoryClientStore;
  api: ReturnType<typeof createApi>;
  readonly apiDeps: ApiDeps;
  readonly github: GithubDeps;
  /** A diagnosis without problems, unless a test changes it. */
  readonly diagnosis: DiagnosisParts;

  constructor(
    workflows: readonly Workflow[] = [echo],
    bindings: readonly Binding[] = [],
    budgets: BudgetOptions = {},
  ) {
    this.world = new World({ workflows, bindings, budgets, metrics: this.metrics });
    this.clients = new MemoryClientStore(this.world.db);
    const start = { ...this.world.deps, records: this.world.records };
    const { registry } = start;
    const { config, statistics, mailboxes, schedules, dayBudgets } = this.world;
    this.diagnosis = pretendedDiagnosis(this.world.db, this.world.clock);
    this.apiDeps = {
      ...start,
      mailboxes,
      dayBudgets,
      dayLimits: dayLimits(budgets),
      heartbeatMs: this.world.deps.settings.heartbeatMs,
      effects: this.world.effects,
      logs: new MemoryLogStore(this.world.db),
      integrity: new MemoryIntegrityStore(this.world.db),
      retention: new MemoryRetentionStore(this.world.db),
      erasures: new MemoryErasureStore(this.world.db),
      // Every ended run is past its retention period.
      retentionOf: retentionIn(registry, 0),
      clients: this.clients,
      clientRegistry: this.clients,
      home: 'projects/test/databases/(default)',
      rateLimit: undefined,
      concurrency: undefined,
      tokens: { verify: async () => undefined },
      config,
      statistics,
      finder: new MemoryRunFinder(this.world.db),
      counts: this.metrics,
      diagnosis: this.diagnosis,
      schedules,
      watch: new MemoryRunWatch(this.world.store),
      listWatch: new MemoryRunListWatch(this.world.db, this.world.store),
      shutdown: this.world.shutdown.signal,
      environment: 'test',
      version: '1.2.3',
    };
    this.api = createApi(this.apiDeps);
    this.github = {
      ...start,
      environment: 'test',
      secrets: () => [GITHUB_SECRET],
      tenants: () => githubTenantsIn({ listed: '', others: 'acme' }),
    };
  }

  /** Switches to an instance on Google's platform, where tenants share the concurrent requests. */
  shareAmongTenants(): void {
    this.api = createApi({ ...this.apiDeps, concurrency: API_CONCURRENCY });
  }

  /** Creates a client and returns its key. */
  async key(
    clientId: string,
    { tenantId = 'acme', roles = ['submitter'], disabled = false }: Key = {},
  ): Promise<string> {
    this.world.db.clients.set(clientId, {
      id: clientId,
      tenantId,
      roles,
      secretHash: sha256Hex(SECRET),
      disabled,
      createdAt: 0,
    });
    return `cairn_${clientId}_${SECRET}`;
  }

  async get(path: string, key: string): Promise<Response> {
    return this.api.request(path, { headers: { authorization: `Bearer ${key}` } });
  }

  async post(key: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return this.api.request('/v1/runs', {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    });
  }

  /** Documents and tasks, which a refused request must not change. */
  written(): number {
    const { db, queue } = this.world;
    return db.runs.size + db.records.size + queue.pending.length;
  }

  deliver(delivery: Partial<DeliveryRequest>): Promise<Response> {
    return githubWebhook(this.github, deliveryRequest(delivery));
  }
}

export interface DeliveryRequest {
  readonly event: string;
  readonly id: string;
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly secret: string;
  readonly method: string;
  /** Replaces headers of the delivery; undefined removes one. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** A delivery as GitHub sends it, with the given changes. */
export function deliveryRequest(delivery: Partial<DeliveryRequest>): Request {
  const {
    event = 'pull_request',
    id = randomUUID(),
    body = '{}',
    secret = GITHUB_SECRET,
    method = 'POST',
  } = delivery;
  const headers: Record<string, string | undefined> = {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-github-delivery': id,
    'x-hub-signature-256': sign(body, secret),
    ...delivery.headers,
  };
  const present = Object.entries(headers).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return new Request('http://cairn.test/webhooks/github', {
    method,
    headers: present,
    ...(method === 'POST' ? { body } : {}),
  });
}

export function sign(body: string | Uint8Array, secret = GITHUB_SECRET): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}
