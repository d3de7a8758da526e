/**
 * An installation with two tenants: one with an object of each kind that a route can name, and a rival. Records every call
 * that a request makes to a store or a queue, and all stored documents.
 */

import { createApi } from '../../../../packages/cairn/src/api/app.ts';
import type { ApiDeps } from '../../../../packages/cairn/src/api/deps.ts';
import { requestHash } from '../../../../packages/cairn/src/core/encoding/fingerprint.ts';
import { erasureId } from '../../../../packages/cairn/src/core/retention/erasure.ts';
import type { RunState } from '../../../../packages/cairn/src/core/run/state.ts';
import type { Role } from '../../../../packages/cairn/src/ports/access/client-store.ts';
import { tick } from '../../../../packages/cairn/src/triggers/schedule/tick.ts';
import { intercept } from '../../../support/intercept.ts';
import { PLACE } from '../../../support/waiting-runs.ts';
import { seededRandomness } from '../../../support/world.ts';
import { Installation } from '../../installation.ts';
import { Belongings, NO_EFFECT, type OwnRun } from './belongings.ts';
import { confirmed, erasureOf } from './erasing.ts';
import { methodOf, pathOf, type Route, TABLE } from './table.ts';

/** The tenant with data, and the one that must not notice the data. */
export const OWNER = PLACE.tenantId;
export const RIVAL = 'rival';

/**
 * Dependencies that do not lead to a store or a queue, or are not queried about the named object: `clients`
 * identifies the caller, and a watch begins after its run was found.
 */
const INSIDE: ReadonlySet<string> = new Set([
  'bindings',
  'clients',
  'clock',
  'counts',
  'diagnosis',
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

/** Values of the path parameters. */
export type Named = Readonly<Record<string, string>>;

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Calls to stores and queues, in order. */
  readonly calls: readonly string[];
}

/** Objects of the owner, and similar names that do not exist. */
export interface Foreign {
  readonly foreign: Named;
  readonly unknown: Named;
}

const UNKNOWN_RUN = `run_${'a'.repeat(26)}`;
/** Ends of waits and leases are later than this. */
const LATER_MS = 600_000;

export class Tenancy {
  readonly #belongings = new Belongings();
  readonly installation = new Installation(this.#belongings.workflows, this.#belongings.bindings);
  readonly #calls: string[] = [];
  readonly #api: ReturnType<typeof createApi>;

  private constructor() {
    this.#api = createApi(this.#spied());
  }

  /** @param owned false: there is only the rival */
  static async make({ owned = true } = {}): Promise<Tenancy> {
    const tenancy = new Tenancy();
    const { clock } = tenancy.installation.world;
    const later = clock.now() + LATER_MS;
    // First, so that it is the same with and without an owner.
    tenancy.#rivals = await tenancy.#give(RIVAL);
    if (owned) await tenancy.#giveOwner();
    clock.jump(later - clock.now());
    return tenancy;
  }

  /** The owner's id for the path of the route. */
  named(route: Route): Named {
    const { run: kind = 'asking' } = TABLE[route];
    const run = this.#runs.find((one) => one.kind === kind);
    if (isAbout(route, 'runs') && run) return addressOf(run);
    if (isAbout(route, 'schedules')) return { id: this.#scheduleId };
    if (isAbout(route, 'clients')) return { id: 'ci' };
    if (isAbout(route, 'erasures')) return { id: erasureOf(OWNER).id };
    if (isAbout(route, 'idempotency')) return { key: KEY };
    return { type: 'echo' };
  }

  /** All ids of the owner that the rival could name. */
  foreign(route: Route): readonly Foreign[] {
    const named = this.named(route);
    const instead = (id: string) => ({ foreign: named, unknown: { ...named, id } });
    if (isAbout(route, 'schedules')) {
      const declared = { foreign: { id: 'nightly.late' }, unknown: { id: 'nightly.never' } };
      return [instead(this.#scheduleId.replace(/.$/, 'z')), declared];
    }
    if (isAbout(route, 'clients')) return [instead('nobody')];
    if (isAbout(route, 'erasures')) return [instead(erasureId(OWNER, 'another'))];
    if (isAbout(route, 'idempotency')) return [{ foreign: named, unknown: { key: 'unknown' } }];
    const runs = this.#runs.map((run) => {
      const foreign = addressOf(run);
      return { foreign, unknown: { ...foreign, id: UNKNOWN_RUN } };
    });
    if (!route.includes('{effectId}')) return runs;
    // A path can also combine a run of the rival with an effect of the owner's run.
    const own = { ...named, id: this.#rivals };
    return [...runs, { foreign: own, unknown: { ...own, effectId: NO_EFFECT } }];
  }

  /** @param role undefined: a stranger without a key */
  key(role: Role | undefined, tenantId: string): Promise<string> {
    const principal = `${tenantId}-${role}`;
    return role === undefined
      ? Promise.resolve('')
      : this.installation.key(principal, { tenantId, roles: [role] });
  }

  /** Records that the caller of this key has made a request under {@link KEY}, as a caller of this tenant. */
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
    const body = confirmed(TABLE[route].body, named);
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

  /** Every document by its location, in a comparable form. */
  stored(): ReadonlyMap<string, string> {
    const { db } = this.installation.world;
    const places = Object.entries(db).flatMap(([name, documents]) => {
      if (!(documents instanceof Map)) return [[name, JSON.stringify(documents) ?? ''] as const];
      return [...documents].map(([id, value]) => [`${name}/${id}`, versionOf(value)] as const);
    });
    return new Map(places);
  }

  #runs: readonly OwnRun[] = [];
  /** A run of the rival. */
  #rivals = '';
  #scheduleId = '';

  async #giveOwner(): Promise<void> {
    const { world, apiDeps } = this.installation;
    this.#runs = await this.#belongings.give(world, OWNER);
    await this.#give(OWNER);
    for (const { snapshot } of world.db.runs.values()) if (snapshot.tenantId === OWNER) this.#name(snapshot);
    this.#scheduleId = [...world.db.schedules.keys()].filter((id) => id.startsWith('sch_')).at(-1) ?? '';
    await apiDeps.erasures.create(erasureOf(OWNER));
    await this.installation.key('ci', { tenantId: OWNER, roles: ['submitter'] });
    await tick({ ...apiDeps, declaredTenant: OWNER });
  }

  /** Marks the run as unwritable at its current position. */
  #name({ id: runId, tenantId, type, head }: RunState): void {
    this.installation.world.db.findings.set(runId, {
      ...{ runId, tenantId, type, head, reason: 'request' },
      ...{ message: `too large for ${tenantId}`, since: 0, lastAt: 0 },
    });
  }

  /** A schedule, and a run without a dispatch. @returns the id of the run */
  async #give(tenantId: string): Promise<string> {
    const key = await this.key('admin', tenantId);
    const post = async (path: string, body: object | undefined) => {
      const answer = await this.installation.api.request(path, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as { runId?: string };
    };
    await post('/v1/schedules', { ...TABLE['POST /v1/schedules'].body, name: tenantId });
    return (await post('/v1/runs', TABLE['POST /v1/runs'].body)).runId ?? '';
  }

  #spied(): ApiDeps {
    const { apiDeps } = this.installation;
    const random = seededRandomness(99);
    return { ...this.#portsOf(apiDeps), random };
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

function isAbout(route: Route, collection: string): boolean {
  return route.includes(` /v1/${collection}/{`);
}

function addressOf({ kind, id, seq, effectId }: OwnRun): Named {
  return { id, seq, effectId, stepId: kind === 'expecting' ? 'any' : 'gate' };
}

/** Version of a stored value, derived from the value. */
function versionOf(value: unknown): string {
  const { version } = value as { version?: string };
  return version ?? JSON.stringify(value);
}
