/**
 * The HTTP API: which path and method leads where. Owns routing, and that every refusal is a problem answer; a route's
 * work is in its own module. Paths and methods are those of `openapi/paths/`: nothing else compiles.
 *
 * Must not: answer anything but health, and what the API says of itself, without knowing the caller.
 */
import { type Context, Hono } from 'hono';
import { routePath } from 'hono/route';
import { CairnError } from '../core/errors.ts';
import { assertEnvelope } from '../http/envelope.ts';
import { methodNotAllowed, problemResponse } from '../http/problem.ts';
import type { Span } from '../ports/telemetry/tracing.ts';
import { Authenticator, type Caller } from './auth.ts';
import type { ApiDeps } from './deps.ts';
import type { Handlers, Path } from './openapi/paths/all.ts';
import { RateLimiter } from './rate-limit.ts';
import { cancelFromApi } from './routes/cancel-run.ts';
import { decideFromApi } from './routes/decide-approval.ts';
import { deliverFromApi } from './routes/deliver-event.ts';
import { DiagnosisRoute } from './routes/diagnosis/read-diagnosis.ts';
import { listEffects, resolveFromApi } from './routes/effects.ts';
import { failWaitFromApi } from './routes/fail-wait.ts';
import { heartbeatWaitFromApi } from './routes/heartbeat-wait.ts';
import { readIdempotency } from './routes/idempotency.ts';
import { ApiDocument } from './routes/installation/api-document.ts';
import {
  createClientFromApi,
  listClients,
  revokeFromApi,
  rotateFromApi,
} from './routes/installation/clients.ts';
import { Health } from './routes/installation/health.ts';
import { readMe } from './routes/installation/me.ts';
import { beginFromApi, readRestoreFromApi, releaseRestoreFromApi } from './routes/installation/restore.ts';
import { putRuntime, readRuntime } from './routes/installation/runtime.ts';
import { listWorkflows, pauseFromApi, unpauseFromApi } from './routes/installation/workflows.ts';
import { readConsistency } from './routes/integrity/check.ts';
import { repairFromApi } from './routes/integrity/repair.ts';
import { MetricsRoute } from './routes/metrics/read-metrics.ts';
import { listInbox } from './routes/overview/inbox.ts';
import { RunCountsRoute } from './routes/overview/run-counts.ts';
import { searchRuns } from './routes/overview/search.ts';
import { readGraph } from './routes/read-graph.ts';
import { readOutput } from './routes/read-output.ts';
import { listCheckpoints, listEvents, listRuns, listSteps, readRun } from './routes/read-runs.ts';
import { eraseRunFromApi, eraseTenantFromApi, readErasureFromApi } from './routes/retention/erase.ts';
import { holdFromApi, releaseFromApi } from './routes/retention/hold.ts';
import { listExpired, readRetention } from './routes/retention/read.ts';
import * as changing from './routes/schedules/change.ts';
import { listSchedules, readSchedule } from './routes/schedules/read.ts';
import { backfillFromApi, triggerFromApi } from './routes/schedules/run.ts';
import { signalFromApi } from './routes/signal-run.ts';
import { startFromApi } from './routes/start-run.ts';
import { StreamPlaces } from './routes/stream/places.ts';
import { streamRun } from './routes/stream/stream-run.ts';
import { streamRuns } from './routes/stream/stream-runs.ts';
import { forkFromApi, previewFromApi, replayFromApi, resumeFromApi } from './routes/successors.ts';
import { continueFromApi, suspendFromApi } from './routes/suspend-run.ts';
import { tellRoute } from './tell-route.ts';
import { Turnstile } from './turnstile.ts';

/** What an instance of 1 GiB bears of starts with up to 32 MiB; measured, 450 MiB for the one that is handled. */
const LARGE_STARTS = { passing: 1, waiting: 2 };
/** Beside it, two reads of 32 MiB, about 100 each; who waits for a read holds nothing. */
const LARGE_READS = { passing: 2, waiting: 20 };
/** Of the 80 requests an instance takes at once, half are left for what does not stay. */
const STREAMS = { ofAll: 40, ofOneTenant: 10 };

type Env = { Bindings: { readonly span?: Span }; Variables: { caller: Caller } };
type Handler = (c: Context<Env>) => Response | Promise<Response>;

export function createApi(deps: ApiDeps): Hono<Env> {
  const authenticator = new Authenticator({
    clients: deps.clients,
    tokens: deps.tokens,
    clock: deps.start.clock,
  });
  const health = new Health(deps);
  const metrics = new MetricsRoute(deps);
  const counts = new RunCountsRoute(deps);
  const diagnosis = new DiagnosisRoute(deps);
  const starts = new Turnstile(LARGE_STARTS);
  const reads = new Turnstile(LARGE_READS);
  const places = new StreamPlaces(STREAMS);
  const limiter = deps.rateLimit && new RateLimiter(deps.rateLimit, deps.start.clock);
  const app = new Hono<Env>();
  const resource = <P extends Path>(described: P, methods: Handlers<P, Handler>) => {
    const path = described.replace(/\{(\w+)\}/g, ':$1');
    for (const [method, handler] of Object.entries<Handler>(methods)) app.on(method, path, handler);
    // Hono answers HEAD with what GET answers.
    const allowed = Object.keys(methods).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    app.all(path, (c) => {
      throw methodNotAllowed(c.req.method, allowed);
    });
  };

  app.use('*', async (c, next) => {
    assertEnvelope(c.req.raw);
    await next();
    // Before the first request a test may ask without any bindings.
    if (c.env?.span) tellRoute(c.env.span, c.req.raw, routePath(c, -1));
  });
  resource('/v1/healthz', { GET: () => health.answer() });
  const document = new ApiDocument(deps.version);
  resource('/v1/openapi.json', { GET: (c) => document.json(c.req.url) });
  resource('/v1/docs', { GET: (c) => document.page(c.req.url) });

  app.use('/v1/*', async (c, next) => {
    const caller = await authenticator.callerOf(c.req.raw.headers);
    limiter?.pass(caller.principal);
    c.set('caller', caller);
    await next();
    // What one caller may read must not be served to the next by a cache on the way.
    if (!c.res.headers.has('cache-control')) c.header('cache-control', 'no-store');
  });
  const at = (c: Context<Env>) => ({ runId: c.req.param('id') ?? '', url: c.req.url });
  resource('/v1/runs', {
    GET: (c) => listRuns(deps, c.get('caller'), c.req.url),
    POST: (c) => startFromApi(deps, c.get('caller'), { request: c.req.raw, large: starts }),
  });
  // Before the run of any name: the first that fits is taken.
  resource('/v1/runs/stream', {
    GET: (c) => streamRuns(deps, c.get('caller'), { request: c.req.raw, places }),
  });
  resource('/v1/runs/counts', { GET: (c) => counts.answer(c.get('caller'), c.req.url) });
  resource('/v1/runs/{id}', { GET: (c) => readRun(deps, c.get('caller'), at(c)) });
  resource('/v1/runs/{id}/suspend', {
    POST: (c) => suspendFromApi(deps, c.get('caller'), { ...at(c), request: c.req.raw }),
  });
  resource('/v1/runs/{id}/continue', {
    POST: (c) => continueFromApi(deps, c.get('caller'), { ...at(c), request: c.req.raw }),
  });
  resource('/v1/runs/{id}/cancel', {
    POST: (c) => cancelFromApi(deps, c.get('caller'), { ...at(c), request: c.req.raw }),
  });
  const ofRun = (c: Context<Env>) => ({ ...at(c), request: c.req.raw, large: starts });
  resource('/v1/runs/{id}/resume', { POST: (c) => resumeFromApi(deps, c.get('caller'), ofRun(c)) });
  resource('/v1/runs/{id}/replay', { POST: (c) => replayFromApi(deps, c.get('caller'), ofRun(c)) });
  resource('/v1/runs/{id}/fork', { POST: (c) => forkFromApi(deps, c.get('caller'), ofRun(c)) });
  resource('/v1/runs/{id}/preview', { POST: (c) => previewFromApi(deps, c.get('caller'), ofRun(c)) });
  resource('/v1/runs/{id}/consistency', { GET: (c) => readConsistency(deps, c.get('caller'), at(c)) });
  resource('/v1/runs/{id}/repair', {
    POST: (c) => repairFromApi(deps, c.get('caller'), { ...at(c), request: c.req.raw }),
  });
  resource('/v1/runs/{id}/retention', { GET: (c) => readRetention(deps, c.get('caller'), at(c)) });
  resource('/v1/runs/{id}/hold', {
    POST: (c) => holdFromApi(deps, c.get('caller'), { ...at(c), request: c.req.raw }),
  });
  resource('/v1/runs/{id}/release-hold', {
    POST: (c) => releaseFromApi(deps, c.get('caller'), { ...at(c), request: c.req.raw }),
  });
  resource('/v1/runs/{id}/erase', {
    POST: (c) => eraseRunFromApi(deps, c.get('caller'), { ...at(c), request: c.req.raw }),
  });
  resource('/v1/erasures', { POST: (c) => eraseTenantFromApi(deps, c.get('caller'), c.req.raw) });
  resource('/v1/erasures/{id}', {
    GET: (c) => readErasureFromApi(deps, c.get('caller'), { id: c.req.param('id') ?? '', url: c.req.url }),
  });
  resource('/v1/retention', { GET: (c) => listExpired(deps, c.get('caller'), c.req.url) });
  resource('/v1/search', { GET: (c) => searchRuns(deps, c.get('caller'), c.req.url) });
  resource('/v1/inbox', { GET: (c) => listInbox(deps, c.get('caller'), c.req.url) });
  resource('/v1/runs/{id}/signals', {
    POST: (c) => signalFromApi(deps, c.get('caller'), { ...at(c), request: c.req.raw }),
  });
  const atStep = (c: Context<Env>) => ({
    ...at(c),
    stepId: c.req.param('stepId') ?? '',
    request: c.req.raw,
  });
  resource('/v1/runs/{id}/waits/{stepId}/fail', {
    POST: (c) => failWaitFromApi(deps, c.get('caller'), atStep(c)),
  });
  resource('/v1/runs/{id}/waits/{stepId}/heartbeat', {
    POST: (c) => heartbeatWaitFromApi(deps, c.get('caller'), atStep(c)),
  });
  resource('/v1/events', { POST: (c) => deliverFromApi(deps, c.get('caller'), c.req.raw) });
  resource('/v1/runs/{id}/approvals/{stepId}', {
    POST: (c) => decideFromApi(deps, c.get('caller'), atStep(c)),
  });
  resource('/v1/runs/{id}/effects', { GET: (c) => listEffects(deps, c.get('caller'), at(c)) });
  resource('/v1/runs/{id}/effects/{effectId}/resolve', {
    POST: (c) =>
      resolveFromApi(deps, c.get('caller'), {
        ...at(c),
        effectId: c.req.param('effectId') ?? '',
        request: c.req.raw,
      }),
  });
  resource('/v1/runs/{id}/stream', {
    GET: (c) => streamRun(deps, c.get('caller'), { ...at(c), request: c.req.raw, places }),
  });
  resource('/v1/runs/{id}/events', { GET: (c) => listEvents(deps, c.get('caller'), at(c)) });
  resource('/v1/runs/{id}/graph', { GET: (c) => readGraph(deps, c.get('caller'), at(c)) });
  resource('/v1/runs/{id}/steps', { GET: (c) => listSteps(deps, c.get('caller'), at(c)) });
  resource('/v1/runs/{id}/checkpoints', { GET: (c) => listCheckpoints(deps, c.get('caller'), at(c)) });
  resource('/v1/runs/{id}/checkpoints/{seq}/output', {
    GET: (c) => readOutput(deps, c.get('caller'), { ...at(c), seq: c.req.param('seq') ?? '', large: reads }),
  });
  resource('/v1/idempotency/{key}', {
    GET: (c) => readIdempotency(deps, c.get('caller'), { key: c.req.param('key') ?? '', url: c.req.url }),
  });
  resource('/v1/me', { GET: (c) => readMe(c.get('caller'), c.req.url) });
  resource('/v1/diagnosis', { GET: (c) => diagnosis.answer(c.get('caller'), c.req.url) });
  resource('/v1/metrics', { GET: (c) => metrics.answer(c.get('caller'), c.req.url) });
  resource('/v1/workflows', { GET: (c) => listWorkflows(deps, c.get('caller'), c.req.url) });
  const ofType = (c: Context<Env>) => ({ type: c.req.param('type') ?? '', request: c.req.raw });
  resource('/v1/workflows/{type}/pause', { POST: (c) => pauseFromApi(deps, c.get('caller'), ofType(c)) });
  resource('/v1/workflows/{type}/unpause', { POST: (c) => unpauseFromApi(deps, c.get('caller'), ofType(c)) });
  const toSchedule = (c: Context<Env>) => ({ id: c.req.param('id') ?? '', request: c.req.raw });
  resource('/v1/schedules', {
    GET: (c) => listSchedules(deps, c.get('caller'), c.req.url),
    POST: (c) => changing.postSchedule(deps, c.get('caller'), c.req.raw),
  });
  resource('/v1/schedules/{id}', {
    GET: (c) => readSchedule(deps, c.get('caller'), toSchedule(c)),
    PATCH: (c) => changing.patchSchedule(deps, c.get('caller'), toSchedule(c)),
    DELETE: (c) => changing.deleteSchedule(deps, c.get('caller'), toSchedule(c)),
  });
  const { pauseSchedule, resumeSchedule } = changing;
  resource('/v1/schedules/{id}/pause', { POST: (c) => pauseSchedule(deps, c.get('caller'), toSchedule(c)) });
  resource('/v1/schedules/{id}/resume', {
    POST: (c) => resumeSchedule(deps, c.get('caller'), toSchedule(c)),
  });
  resource('/v1/schedules/{id}/trigger', {
    POST: (c) => triggerFromApi(deps, c.get('caller'), toSchedule(c)),
  });
  resource('/v1/schedules/{id}/backfill', {
    POST: (c) => backfillFromApi(deps, c.get('caller'), toSchedule(c)),
  });
  resource('/v1/clients', {
    GET: (c) => listClients(deps, c.get('caller'), c.req.url),
    POST: (c) => createClientFromApi(deps, c.get('caller'), c.req.raw),
  });
  const ofClient = (c: Context<Env>) => ({ clientId: c.req.param('id') ?? '', request: c.req.raw });
  resource('/v1/clients/{id}/rotate', { POST: (c) => rotateFromApi(deps, c.get('caller'), ofClient(c)) });
  resource('/v1/clients/{id}/revoke', { POST: (c) => revokeFromApi(deps, c.get('caller'), ofClient(c)) });
  resource('/v1/runtime', {
    GET: (c) => readRuntime(deps, c.get('caller'), c.req.url),
    PUT: (c) => putRuntime(deps, c.get('caller'), c.req.raw),
  });
  resource('/v1/restore', { GET: (c) => readRestoreFromApi(deps, c.get('caller'), c.req.url) });
  resource('/v1/restore/begin', { POST: (c) => beginFromApi(deps, c.get('caller'), c.req.raw) });
  resource('/v1/restore/release', {
    POST: (c) => releaseRestoreFromApi(deps, c.get('caller'), c.req.raw),
  });

  app.notFound(() => problemResponse(new CairnError('NOT_FOUND', 'no such resource'), deps.start.log));
  app.onError((error) => {
    const answer = problemResponse(error, deps.start.log);
    if (answer.status === 401) answer.headers.set('www-authenticate', 'Bearer');
    return answer;
  });
  return app;
}
