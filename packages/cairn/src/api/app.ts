/**
 * The HTTP API as a Hono app: registers every route of the table, and answers every refusal as a problem.
 *
 * Must not: answer a route of a role other than `open` without knowing the caller.
 */
import { Hono } from 'hono';
import { routePath } from 'hono/route';
import { isRunId } from '../core/encoding/ids.ts';
import { CairnError } from '../core/errors.ts';
import { assertHead } from '../http/head-limits.ts';
import { methodNotAllowed, problemResponse } from '../http/problem.ts';
import type { Span } from '../ports/tracing.ts';
import { Authenticator, type Caller } from './auth.ts';
import type { ApiDeps } from './deps.ts';
import { newInstance } from './instance.ts';
import { OPERATIONS, type OperationName } from './openapi/paths/all.ts';
import { partsOf } from './openapi/paths/describe.ts';
import { RateLimiter } from './rate-limit.ts';
import { type AnyHandler, answerCall } from './route.ts';
import { ROUTES } from './routes/all.ts';
import { TenantShares } from './tenant-shares.ts';

type PathOperations = readonly [path: string, names: readonly OperationName[]];

type Env = { Bindings: { readonly span?: Span }; Variables: { caller: Caller | undefined } };

export function createApi(deps: ApiDeps): Hono<Env> {
  const { clients, tokens, rateLimit, concurrency } = deps;
  const { clock, log } = deps;
  const authenticator = new Authenticator({ clients, tokens, clock });
  const limiter = rateLimit && new RateLimiter(rateLimit, clock);
  const instance = newInstance(deps);
  const { places } = instance;
  const shares =
    concurrency === undefined
      ? undefined
      : new TenantShares({ ofAll: concurrency, openStreams: () => places.taken }, clock);
  const app = new Hono<Env>();

  const register = ([path, names]: PathOperations) => {
    const template = path.replace(/\{(\w+)\}/g, ':$1');
    for (const name of names) {
      app.on(partsOf(name)[0], template, (c) =>
        answerCall(OPERATIONS[name], ROUTES[name] as AnyHandler, {
          deps,
          instance,
          caller: c.get('caller'),
          params: c.req.param(),
          request: c.req.raw,
        }),
      );
    }
    // Hono answers HEAD with what GET answers.
    const allowed = names.flatMap((name) => {
      const [method] = partsOf(name);
      return method === 'GET' ? ['GET', 'HEAD'] : [method];
    });
    app.all(template, (c) => {
      throw methodNotAllowed(c.req.method, allowed);
    });
  };

  app.use('*', async (c, next) => {
    assertHead(c.req.raw);
    await next();
    // A test may send requests without bindings.
    if (c.env?.span) nameSpan(c.env.span, c.req.raw, routePath(c, -1));
  });
  const paths = [...Map.groupBy(Object.keys(ROUTES) as OperationName[], (name) => partsOf(name)[1])];
  for (const path of paths.filter(isOpen)) register(path);
  app.use('/v1/*', async (c, next) => {
    const caller = await authenticator.callerOf(c.req.raw.headers);
    limiter?.pass(caller.principal);
    c.set('caller', caller);
    await (shares ? shares.pass(caller.tenantId, next) : next());
    // Prevents a cache from serving one caller's response to another.
    if (!c.res.headers.has('cache-control')) c.res.headers.set('cache-control', 'no-store');
  });
  for (const path of paths.filter((path) => !isOpen(path))) register(path);

  app.notFound(() => problemResponse(new CairnError('NOT_FOUND', 'no such resource'), log));
  app.onError((error) => {
    const answer = problemResponse(error, log);
    if (answer.status === 401) answer.headers.set('www-authenticate', 'Bearer');
    return answer;
  });
  return app;
}

function isOpen([, names]: PathOperations): boolean {
  return names.every((name) => OPERATIONS[name].role === 'open');
}

/** @param route as it is registered; ends in `*` where no resource was found */
function nameSpan(span: Span, { method, url }: Request, route: string): void {
  if (route.endsWith('*')) return;
  const path = route.replace(/:(\w+)/g, '{$1}');
  span.rename(`${method} ${path}`);
  const [, runId = ''] = /^\/v1\/runs\/([^/]+)/.exec(new URL(url).pathname) ?? [];
  span.set({ 'http.route': path, 'cairn.run.id': isRunId(runId) ? runId : undefined });
}
