/** Access by role: each role, and an anonymous caller, on each route. */
import { describe, expect, test } from '@jest/globals';
import { ROLES } from '../../../../packages/cairn/src/api/auth.ts';
import { OPERATIONS } from '../../../../packages/cairn/src/api/openapi/paths/all.ts';
import type { Role } from '../../../../packages/cairn/src/ports/access/client-store.ts';
import { methodOf, ROUTES, type Route, type Row, TABLE } from './table.ts';
import { type Answered, OWNER, Tenancy } from './tenancy.ts';

const described = Object.entries(OPERATIONS).map(([name, { role }]) => [name, role]);

test('the table has every route, and the document names the roles of each', () => {
  const least = ROUTES.map((route) => [route, TABLE[route].least]);
  expect(Object.fromEntries(described)).toEqual(Object.fromEntries(least));
});

function expectedOf({ least, status }: Row, role: Role | undefined): number {
  if (least === 'open') return status;
  if (role === undefined) return 401;
  return ROLES.indexOf(role) < ROLES.indexOf(least) ? 403 : status;
}

/** A caller without a key, and one of each role. */
const CALLERS = [undefined, ...ROLES];

describe('every route', () => {
  test.each(ROUTES)('%s answers each role, and a caller without a key, as the table says', async (route) => {
    const row = TABLE[route];
    const isRead = methodOf(route) === 'GET';
    let shared: Tenancy | undefined;
    for (const role of CALLERS) {
      const expected = expectedOf(row, role);
      // Requests that must not change anything share one installation; each of the others gets its own.
      const changes = !isRead && expected < 400 && !row.idle;
      shared ??= await Tenancy.make();
      const tenancy = changes ? await Tenancy.make() : shared;
      const key = await tenancy.key(role, OWNER);
      await tenancy.recordOf(key, OWNER);
      const before = tenancy.stored();
      const answer = await tenancy.ask(route, { key, named: tenancy.named(route) });
      expect([role, answer.status]).toEqual([role, expected]);
      if (expected === 401 || expected === 403) assertRefused(answer, role);
      if (isRead) expect(await headOf(tenancy, route, key)).toEqual([expected, '']);
      expect([role, isSame(before, tenancy.stored())]).toEqual([role, !changes]);
    }
  });
});

async function headOf(tenancy: Tenancy, route: Route, key: string): Promise<[number, string]> {
  const { status, text } = await tenancy.ask(route, { key, named: tenancy.named(route), method: 'HEAD' });
  return [status, text];
}

function isSame(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): boolean {
  return JSON.stringify([...before]) === JSON.stringify([...after]);
}

/** Only the caller was checked, so a refusal cannot reveal anything else. */
function assertRefused({ status, text, calls }: Answered, role: Role | undefined): void {
  const { code } = JSON.parse(text) as { code: string };
  expect([status, code]).toEqual(role === undefined ? [401, 'UNAUTHENTICATED'] : [403, 'FORBIDDEN']);
  expect(calls).toEqual([]);
}
