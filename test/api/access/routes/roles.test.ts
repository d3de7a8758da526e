/** Who may do what: each role, and a stranger, against each route. */
import { describe, expect, test } from '@jest/globals';
import { ROLES } from '../../../../functions/src/api/auth.ts';
import { PATHS } from '../../../../functions/src/api/openapi/paths/all.ts';
import type { Paths } from '../../../../functions/src/api/openapi/paths/describe.ts';
import type { Role } from '../../../../functions/src/ports/access/client-store.ts';
import { methodOf, ROUTES, type Route, type Row, TABLE } from './table.ts';
import { type Answered, OWNER, Tenancy } from './tenancy.ts';

const described = Object.entries(PATHS as Paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { role }]) => [`${method} ${path}`, role]),
);

test('the table has every route, and the document says of each whom it lets in', () => {
  const least = ROUTES.map((route) => [route, TABLE[route].least]);
  expect(Object.fromEntries(described)).toEqual(Object.fromEntries(least));
});

function expectedOf({ least, status }: Row, role: Role | undefined): number {
  if (least === 'open') return status;
  if (role === undefined) return 401;
  return ROLES.indexOf(role) < ROLES.indexOf(least) ? 403 : status;
}

const asked = ROUTES.flatMap((route) =>
  [undefined, ...ROLES].map((role) => {
    const expected = expectedOf(TABLE[route], role);
    return { route, role, expected, who: role ?? 'stranger' };
  }),
);

describe('every route', () => {
  test.each(asked)('$route answers a $who with $expected', async ({ route, role, expected }) => {
    const tenancy = await Tenancy.make();
    const key = await tenancy.key(role, OWNER);
    await tenancy.recordOf(key, OWNER);
    const [named = {}] = tenancy.named(route);
    const before = tenancy.stored();
    if (methodOf(route) === 'GET') {
      const head = await tenancy.ask(route, { key, named, method: 'HEAD' });
      expect([head.status, head.text]).toEqual([expected, '']);
    }
    const answer = await tenancy.ask(route, { key, named });
    expect(answer.status).toBe(expected);
    if (expected === 401 || expected === 403) assertRefused(answer, role);
    // Reads change nothing, refusals even less; everything else leaves a trace.
    const isRead = methodOf(route) === 'GET';
    const hasChanged = JSON.stringify([...tenancy.stored()]) !== JSON.stringify([...before]);
    expect(hasChanged).toBe(!isRead && expected < 400 && leavesTrace(route));
  });
});

/** Nothing was looked at but who asks, so nothing can be told by the refusal. */
function assertRefused({ status, text, calls }: Answered, role: Role | undefined): void {
  const { code } = JSON.parse(text) as { code: string };
  expect([status, code]).toEqual(role === undefined ? [401, 'UNAUTHENTICATED'] : [403, 'FORBIDDEN']);
  expect(calls).toEqual([]);
}

/** These find here that what they are asked for is so already, or has been. */
function leavesTrace(route: Route): boolean {
  return !['POST /v1/workflows/{type}/unpause', 'PUT /v1/runtime', 'POST /v1/schedules/{id}/resume'].includes(
    route,
  );
}
