/**
 * The HTTP API as a Hono app: registers every route of the table, and answers every refusal as a problem.
 *
 * Must not: answer a route of a role other than `open` without knowing the caller.
 */
import { Hono } from 'hono';
import { routePath } from 'hono/route';
import { CairnError } from '../core/errors.ts';
import { assertEnvelope } from '../http/envelope.ts';
import { methodNotAllowed, problemResponse } from '../http/problem.ts';
import type { Span } from '../ports/tracing.ts';
import { Authenticator, type Caller } from './auth.ts';
import type { ApiDeps } from './deps.ts';
import { newInstance } from './instance.ts';
import { nameSpan } from './name-span.ts';
import { PATHS } from './openapi/paths/all.ts';
import type { ApiOperation } from './openapi/paths/describe.ts';
import { RateLimiter } from './rate-limit.ts';
import { type AnyHandler, answerCall } from './route.ts';
import { ROUTES } from './routes/all.ts';
import { TenantShares } from './tenant-shares.ts';

/** The table without the types of its members. */
const operations: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>> = PATHS;

type Env = { Bindings: { readonly span?: Span }; Variables: { caller: Caller | undefined } };

export function createApi(deps: ApiDeps): Hono<Env> {
  const { clients, tokens, rateLimit, concurrency } = deps;
  const { clock, log } = deps.start;
  const authenticator = new Authenticator({ clients, tokens, clock });
  const limiter = rateLimit && new RateLimiter(rateLimit, clock);
  const instance = newInstance(deps);
  const { places } = instance;
  const shares =
    concurrency === undefined
      ? undefined
      : new TenantShares({ ofAll: concurrency, openStreams: () => places.taken }, clock);
  const app = new Hono<Env>();

  const register = (path: string) => {
    const handlers: Readonly<Record<string, AnyHandler>> = ROUTES[path as keyof typeof ROUTES];
    const template = path.replace(/\{(\w+)\}/g, ':$1');
    for (const [method, handler] of Object.entries(handlers)) {
      const operation = operations[path]?.[method] as ApiOperation;
      app.on(method, template, (c) =>
        answerCall(operation, handler, {
          deps,
          instance,
          caller: c.get('caller'),
          params: c.req.param(),
          request: c.req.raw,
        }),
      );
    }
    // Hono answers HEAD with what GET answers.
    const allowed = Object.keys(handlers).flatMap((method) =>
      method === 'GET' ? ['GET', 'HEAD'] : [method],
    );
    app.all(template, (c) => {
      throw methodNotAllowed(c.req.method, allowed);
    });
  };

  app.use('*', async (c, next) => {
    assertEnvelope(c.req.raw);
    await next();
    // Before the first request a test may ask without any bindings.
    if (c.env?.span) nameSpan(c.env.span, c.req.raw, routePath(c, -1));
  });
  const paths = Object.keys(ROUTES);
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

function isOpen(path: string): boolean {
  return Object.values(operations[path] ?? {}).every(({ role }) => role === 'open');
}
