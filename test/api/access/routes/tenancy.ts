/**
 * An installation with two tenants: one that has one of everything that a route can name, and a rival. Knows every call
 * that a request makes to a store or a queue, and everything that is stored.
 */
import { z } from 'zod';
import { createApi } from '../../../../functions/src/api/app.ts';
import type { ApiDeps } from '../../../../functions/src/api/deps.ts';
import { requestHash } from '../../../../functions/src/core/encoding/fingerprint.ts';
import { defineWorkflow } from '../../../../functions/src/engine/define/workflow.ts';
import type { Role } from '../../../../functions/src/ports/access/client-store.ts';
import { tick } from '../../../../functions/src/triggers/schedule/tick.ts';
import { release, Scene } from '../../../operations/approvals/scene.ts';
import { intercept } from '../../../support/intercept.ts';
import { announce, PLACE, waitingRun, waits } from '../../../support/waiting-runs.ts';
import { seededRandomness } from '../../../support/world.ts';
import { echo, Installation } from '../../installation.ts';
import { methodOf, pathOf, type Route, TABLE } from './table.ts';

/** Who has everything, and who must not notice. */
export const OWNER = PLACE.tenantId;
export const RIVAL = 'rival';

const nightly = defineWorkflow({
  type: 'nightly',
  planVersion: 1,
  input: z.unknown(),
  on: { schedule: [{ id: 'late', cron: '0 3 * * *', input: {} }] },
  steps: (step) => ({ done: step('do', () => 1) }),
});

/**
 * Members of the dependencies that are no way to a store or a queue, or are not asked about what is named: `clients`
 * says who the caller is, a watch begins after its run was found.
 */
const INSIDE: ReadonlySet<string> = new Set([
  'clients',
  'clock',
  'counts',
  'log',
  'metrics',
  'otherRuns',
  'random',
  'registry',
  'runtime',
  'settings',
  'shutdown',
  'start',
  'tokens',
  'watch',
]);

const KEY = 'known';
const HOUR_MS = 3_600_000;

/** What the parameters in the addresses of routes stand for. */
export type Named = Readonly<Record<string, string>>;

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Calls to stores and queues, in order. */
  readonly calls: readonly string[];
}

export class Tenancy {
  readonly installation = new Installation([echo, release(), waits, nightly]);
  readonly #calls: string[] = [];
  readonly #api: ReturnType<typeof createApi>;

  private constructor() {
    this.#api = createApi(this.#spied());
  }

  /** @param owned false: the rival is alone */
  static async make({ owned = true } = {}): Promise<Tenancy> {
    const tenancy = new Tenancy();
    // First, so that it comes out the same whether or not there is an owner.
    await tenancy.#give(RIVAL);
    if (owned) await tenancy.#giveOwner();
    return tenancy;
  }

  /** What the route names, of the owner's; several where it makes a difference what it is. */
  named(route: Route): readonly Named[] {
    const of = (collection: string) => route.includes(`/v1/${collection}/{`);
    if (of('runs')) return this.#runs.map(({ id, seq }) => ({ id, stepId: 'gate', seq }));
    if (of('schedules')) return [{ id: this.#scheduleId }, { id: 'nightly.late' }];
    if (of('clients')) return [{ id: 'ci' }];
    if (of('idempotency')) return [{ key: KEY }];
    return [{ type: 'echo' }];
  }

  /** The same, but that nobody has it. */
  static unknown({ id = '' }: Named): Named {
    const other = id.startsWith('run_') ? `run_${'a'.repeat(26)}` : id.replace(/.$/, 'z');
    return { id: other, stepId: 'gate', seq: '3', key: 'unknown', type: 'echo' };
  }

  /** @param role undefined: a stranger without a key */
  key(role: Role | undefined, tenantId: string): Promise<string> {
    const principal = `${tenantId}-${role}`;
    return role === undefined
      ? Promise.resolve('')
      : this.installation.key(principal, { tenantId, roles: [role] });
  }

  /** The caller of this key has made a request under {@link KEY}, as one of this tenant. */
  async recordOf(key: string, tenantId: string): Promise<void> {
    const { clock } = this.installation.world;
    const [, clientId = ''] = key.split('_');
    const now = clock.now();
    await this.installation.world.records.create({
      key: `api:c.${clientId}:${KEY}`,
      source: 'api',
      tenantId,
      status: 'completed',
      requestHash: requestHash('POST /v1/events', {}),
      response: { status: 200, body: {} },
      createdAt: now,
      updatedAt: now,
      expiresAt: now + HOUR_MS,
      attempts: 1,
    });
  }

  async ask(
    route: Route,
    {
      key,
      named,
      method = methodOf(route),
      once,
    }: { key: string; named: Named; method?: string; once?: string },
  ): Promise<Answered> {
    const { body } = TABLE[route];
    const headers: Record<string, string> = {
      ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...(once === undefined ? {} : { 'idempotency-key': once }),
    };
    this.#calls.length = 0;
    const answer = await this.#api.request(pathOf(route, named), {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (isStream) await answer.body?.cancel();
    return {
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      text: isStream ? '' : await answer.text(),
      calls: [...this.#calls],
    };
  }

  /** Every document, under its place, in a form in which two can be compared. */
  stored(): ReadonlyMap<string, string> {
    const { db } = this.installation.world;
    const places = Object.entries(db).flatMap(([name, documents]) => {
      if (!(documents instanceof Map)) return [[name, JSON.stringify(documents) ?? ''] as const];
      return [...documents].map(([id, value]) => [`${name}/${id}`, versionOf(value)] as const);
    });
    return new Map(places);
  }

  #runs: { readonly id: string; readonly seq: string }[] = [];
  #scheduleId = '';

  async #giveOwner(): Promise<void> {
    const { world } = this.installation;
    const asking = await Scene.asking({ world, tenantId: OWNER });
    const driven = await Scene.begun({ world, tenantId: OWNER, seed: 2 });
    await driven.done('fetch');
    this.#runs = [asking, driven].map(({ runId: id }) => ({ id, seq: this.#outputOf(id) }));
    await announce(world.deps, await waitingRun(world));
    await this.#give(OWNER);
    this.#scheduleId = [...world.db.schedules.keys()].filter((id) => id.startsWith('sch_')).at(-1) ?? '';
    await this.installation.key('ci', { tenantId: OWNER, roles: ['submitter'] });
    const { apiDeps } = this.installation;
    await tick({ ...apiDeps.start, ...apiDeps, declaredTenant: OWNER });
  }

  /** A run that nobody has driven yet, and a schedule. */
  async #give(tenantId: string): Promise<void> {
    const key = await this.key('admin', tenantId);
    const schedule = TABLE['POST /v1/schedules'].body;
    for (const [path, body] of [
      ['/v1/runs', TABLE['POST /v1/runs'].body],
      ['/v1/schedules', { ...schedule, name: tenantId }],
    ] as const) {
      const { status } = await this.installation.api.request(path, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      if (status !== 201) throw new Error(`${path}: ${status}`);
    }
  }

  #outputOf(runId: string): string {
    const checkpoints = this.installation.world.db.runs.get(runId)?.checkpoints.values() ?? [];
    const withOutput = [...checkpoints].find(({ outputText }) => outputText !== undefined);
    return String(withOutput?.seq);
  }

  #spied(): ApiDeps {
    const { apiDeps } = this.installation;
    const random = seededRandomness(99);
    const start = { ...this.#portsOf(apiDeps.start), random };
    return { ...this.#portsOf(apiDeps), start };
  }

  #portsOf<T extends object>(deps: T): T {
    const ports = Object.entries(deps).filter(
      ([name, port]) => typeof port === 'object' && port !== null && !INSIDE.has(name),
    );
    const spied = ports.map(([name, port]) => [
      name,
      intercept(port as object, ({ method }, proceed) => {
        this.#calls.push(`${name}.${method}`);
        return proceed();
      }),
    ]);
    return { ...deps, ...Object.fromEntries(spied) };
  }
}

/** What has a version changes with it. */
function versionOf(value: unknown): string {
  const { version } = value as { version?: string };
  return version ?? JSON.stringify(value);
}
