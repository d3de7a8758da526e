/**
 * An installation with an object of every kind, two tenants, and all kinds of callers, as subjects for requests to every
 * route. Creating it twice gives the same, including ids.
 */
import { z } from 'zod';
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import type { ApiDeps } from '../../../packages/cairn/src/api/deps.ts';
import type { IdempotencyRecord } from '../../../packages/cairn/src/core/decisions/idempotency.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { CollectedLog } from '../../../packages/cairn/src/testing/world/collected-log.ts';
import { tick } from '../../../packages/cairn/src/triggers/schedule/tick.ts';
import { release, Scene } from '../../operations/approvals/scene.ts';
import { type Image, imageOf } from '../../support/image.ts';
import { Outside } from '../../support/outside.ts';
import { announce, waitingRun, waits } from '../../support/waiting-runs.ts';
import { failing, nightly } from '../access/routes/belongings.ts';
import { erasureOf } from '../access/routes/erasing.ts';
import { echo, Installation } from '../installation.ts';

const SETTLED: ReadonlySet<string> = new Set(['completed', 'failed', 'awaiting_approval']);

/** The tenant of the requests. Objects of the other tenant contain {@link OTHERS_SECRET}. */
export const TENANT = 't1';
export const OTHERS_SECRET = 'known-to-the-others-only';
const HOUR_MS = 3_600_000;
const NOT_THE_SECRET = 'a'.repeat(32);

/** Performs an action that can be undone, then makes an external call and gets no response. */
function posting({ capability }: Outside) {
  return defineWorkflow({
    type: 'post',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const made = step('make', { compensate: () => {} }, () => 1);
      return {
        sent: step('send', { needs: { made }, uses: [capability] }, ({ perform }) =>
          perform(capability, { text: 'hello' }),
        ),
      };
    },
  });
}

/** Existing ids, by the path segment that precedes them. */
export interface Ids {
  readonly runs: readonly string[];
  readonly schedules: readonly string[];
  readonly clients: readonly string[];
  readonly effects: readonly string[];
  readonly workflows: readonly string[];
  readonly idempotency: readonly string[];
}

/** Existing objects by kind. */
export interface Named {
  /** A run at its approval `gate`. */
  readonly asking: string;
  readonly ended: string;
  readonly failed: string;
  readonly pending: string;
  /** A run that waits for the event of {@link waits}. */
  readonly waiting: string;
  /** A run that asks about the outcome of `effectId`. */
  readonly acting: string;
  readonly effectId: string;
  readonly schedule: string;
  readonly declared: string;
}

/** A value of `authorization` and its caller; undefined caller if it is refused. */
export interface Credential {
  readonly value: string | undefined;
  readonly principal: string | undefined;
  readonly tenantId: string | undefined;
}

export interface StageOptions {
  /** Replaces dependencies of the API. */
  readonly around?: (deps: ApiDeps) => ApiDeps;
}

export class Stage {
  readonly installation: Installation;
  readonly log: CollectedLog;
  /** Dependencies of the API. */
  readonly apiDeps: ApiDeps;
  readonly api: ReturnType<typeof createApi>;
  readonly ids: Ids;
  readonly named: Named;
  readonly credentials: Readonly<Record<string, Credential>>;
  #linesSeen = 0;

  private constructor(installation: Installation, options: StageOptions, known: Known) {
    this.installation = installation;
    this.ids = known.ids;
    this.named = known.named;
    this.credentials = known.credentials;
    this.log = new CollectedLog(installation.world.clock);
    const { apiDeps } = installation;
    const deps: ApiDeps = { ...apiDeps, log: this.log, tokens: TOKENS };
    this.apiDeps = options.around?.(deps) ?? deps;
    this.api = createApi(this.apiDeps);
  }

  static async make(options: StageOptions = {}): Promise<Stage> {
    const outside = new Outside();
    outside.faults.push('lose_answer');
    const workflows = [echo, nightly, release(), waits, posting(outside), failing];
    const installation = new Installation(workflows, [outside.binding]);
    const { world, apiDeps } = installation;
    const credentials = await callers(installation);
    await apiDeps.erasures.create(erasureOf(TENANT));
    const ended = await world.start('echo', { text: 'hello' }, { tenantId: TENANT });
    const others = await world.start('echo', { text: OTHERS_SECRET }, { tenantId: 'others' });
    const failed = await world.start('failing', {}, { tenantId: TENANT });
    const acting = await world.start('post', {}, { tenantId: TENANT });
    // A run that asks must keep its question: otherwise the time would advance to the end of its wait.
    const done = () => [ended, others, failed, acting].every((id) => SETTLED.has(world.stateOf(id).status));
    await world.run(done);
    const effectId = world.stateOf(acting).waits[0]?.effectId ?? '';
    const pending = await world.start('echo', { text: 'not yet' }, { tenantId: TENANT, threadId: 'thread' });
    world.queue.take();
    const asking = await Scene.asking({ world, tenantId: TENANT });
    const doubtful = await Scene.inDoubt(undefined, { world, tenantId: TENANT });
    const waiting = await waitingRun(world);
    await announce(world.deps, waiting);

    const schedule = { type: 'echo', cron: '0 * * * *', input: { text: 'hi' } };
    const made = await post(installation, { path: '/v1/schedules', as: credentials.admin, body: schedule });
    const theirs = { ...schedule, name: OTHERS_SECRET };
    const other = await post(installation, { path: '/v1/schedules', as: credentials.other, body: theirs });
    await tick({ ...apiDeps, declaredTenant: TENANT });
    await keepRecords(installation);
    const ids: Ids = {
      runs: [
        asking.runId,
        ended,
        failed,
        acting,
        pending,
        doubtful.runId,
        waiting,
        others,
        `run_${'a'.repeat(26)}`,
      ],
      schedules: [made, 'nightly.late', other, `sch_${'0'.repeat(32)}`],
      clients: ['submitter', 'viewer', 'operator', 'admin', 'other', 'nobody'],
      effects: [effectId],
      workflows: ['echo', 'nightly', 'release', 'waits', 'gone'],
      idempotency: ['processing', 'failed', 'exhausted', 'expired', 'foreign', 'unknown'],
    };
    const named = {
      asking: asking.runId,
      ended,
      failed,
      pending,
      waiting,
      acting,
      effectId,
      schedule: made,
      declared: 'nightly.late',
    };
    return new Stage(installation, options, { ids, named, credentials });
  }

  /** Errors logged since the last call. */
  errors(): readonly unknown[] {
    const { lines } = this.log;
    const fresh = lines.slice(this.#linesSeen);
    this.#linesSeen = lines.length;
    return fresh.filter(({ level }) => level === 'error');
  }

  image(): Image {
    return imageOf(this.installation.world);
  }
}

interface Known {
  readonly ids: Ids;
  readonly named: Named;
  readonly credentials: Readonly<Record<string, Credential>>;
}

/** Claims of signed-in users, by token. */
const CLAIMS: Readonly<Record<string, object>> = {
  'user.of.t1': { tenant: TENANT, role: 'operator' },
  'user.of.nobody': {},
  'user.of.oddness': { tenant: ['t1'], role: { admin: true } },
};
const TOKENS: ApiDeps['tokens'] = {
  verify: async (token) => {
    const claims = CLAIMS[token];
    return claims && { uid: `the:${token}`, claims: claims as Readonly<Record<string, unknown>> };
  },
};

async function callers(installation: Installation) {
  const roles = ['viewer', 'submitter', 'operator', 'admin'] as const;
  const credentials: Record<string, Credential> = {};
  for (const role of roles) {
    // `admin` has access to every route, so that requests get past the check of roles.
    const held = role === 'admin' ? (['admin', 'installation'] as const) : [role];
    const value = await installation.key(role, { tenantId: TENANT, roles: held });
    credentials[role] = { value: `Bearer ${value}`, principal: `c.${role}`, tenantId: TENANT };
  }
  const admin = { roles: ['admin'] as const };
  const other = await installation.key('other', { tenantId: 'others', ...admin });
  credentials.other = { value: `Bearer ${other}`, principal: 'c.other', tenantId: 'others' };
  const nobody = { principal: undefined, tenantId: undefined };
  const disabled = await installation.key('disabled', { tenantId: TENANT, ...admin, disabled: true });
  credentials.disabled = { ...nobody, value: `Bearer ${disabled}` };
  credentials.wrong = { ...nobody, value: `Bearer cairn_admin_${NOT_THE_SECRET}` };
  credentials.none = { ...nobody, value: undefined };
  for (const token of Object.keys(CLAIMS)) {
    const isUser = token === 'user.of.t1';
    const principal = isUser ? `u.${encodeURIComponent(`the:${token}`)}` : undefined;
    credentials[token] = { value: `Bearer ${token}`, principal, tenantId: isUser ? TENANT : undefined };
  }
  return credentials as Readonly<Record<string, Credential>> & Record<'admin' | 'other', Credential>;
}

/** Records of earlier requests by the admin and the operator under those keys. */
async function keepRecords({ world }: Installation): Promise<void> {
  const now = world.clock.now();
  const keep = (principal: string, key: string, more: Partial<IdempotencyRecord>) =>
    world.records.create({
      key: `api:${principal}:${key}`,
      source: 'api',
      tenantId: TENANT,
      status: 'processing',
      requestHash: 'of another request',
      createdAt: now,
      updatedAt: now,
      expiresAt: now + HOUR_MS,
      attempts: 1,
      ...more,
    });
  for (const principal of ['c.admin', 'c.operator', 'c.submitter']) {
    await keep(principal, 'processing', { lockExpiresAt: now + HOUR_MS });
    await keep(principal, 'failed', { status: 'failed', error: 'it broke' });
    await keep(principal, 'exhausted', { status: 'failed', error: 'it broke', attempts: 3 });
    await keep(principal, 'expired', { expiresAt: now - 1 });
    await keep(principal, 'foreign', { tenantId: 'others' });
  }
}

interface Posting {
  readonly path: string;
  readonly as: Credential;
  readonly body: object;
}

/** The id of the created object. */
async function post({ api }: Installation, { path, as, body }: Posting): Promise<string> {
  const headers = { authorization: as.value ?? '', 'content-type': 'application/json' };
  const answer = await api.request(path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { id: string }).id;
}
