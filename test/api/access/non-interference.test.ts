/**
 * No action of another tenant, with any role that it can hold, changes a byte of the answers to this tenant. Two
 * equal installations are compared: in one of them a random program of the other tenant runs first.
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import type { Role } from '../../../packages/cairn/src/ports/access/client-store.ts';
import type { Randomness } from '../../../packages/cairn/src/ports/randomness.ts';
import { seededRandomness } from '../../support/world.ts';
import { type Drawn, ROUTES, type Route, requests } from '../fuzz/requests.ts';
import { Stage, TENANT } from '../fuzz/stage.ts';
import { pathOf, TABLE, ROUTES as TABLE_ROUTES } from './routes/table.ts';

/** Roles that a tenant can grant. No tenant has the role `installation`. */
const TENANT_ROLES = ['viewer', 'submitter', 'operator', 'admin'] as const satisfies readonly Role[];
const OTHER = 'others';
const REQUESTS = 60;
/** `PROGRAMS=200` before the command runs more programs. */
const PROGRAMS = Number(process.env.PROGRAMS ?? 2);

interface Observed {
  readonly request: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** One installation, with a fixed sequence of random values for each tenant. */
class Side {
  readonly #stage: Stage;
  readonly #api: ReturnType<typeof createApi>;
  #random: Randomness = seededRandomness(1);

  private constructor(stage: Stage) {
    this.#stage = stage;
    const random: Randomness = {
      unit: () => this.#random.unit(),
      token: () => this.#random.token(),
      runId: () => this.#random.runId(),
    };
    const { apiDeps } = stage;
    this.#api = createApi({ ...apiDeps, random });
  }

  static async make(): Promise<Side> {
    const side = new Side(await Stage.make());
    for (const tenantId of [TENANT, OTHER]) {
      for (const role of TENANT_ROLES)
        await side.#stage.installation.key(`${tenantId}-${role}`, { tenantId, roles: [role] });
    }
    return side;
  }

  get stage(): Stage {
    return this.#stage;
  }

  /** Requests of one tenant, in order, each by the client of the drawn role. */
  async run(tenantId: string, program: readonly Drawn[]): Promise<readonly Observed[]> {
    this.#random = seededRandomness(tenantId === TENANT ? 2 : 3);
    const observed: Observed[] = [];
    for (const { as, method, path, headers, body } of program) {
      const key = await this.#stage.installation.key(`${tenantId}-${as}`, { tenantId, roles: [as as Role] });
      const answer = await this.#api.request(path, {
        method,
        headers: { ...headers, authorization: `Bearer ${key}` },
        ...(body === undefined ? {} : { body }),
      });
      const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
      if (isStream) await answer.body?.cancel();
      observed.push({
        request: `${as} ${method} ${path}`,
        status: answer.status,
        headers: Object.fromEntries(answer.headers),
        text: isStream ? '' : await answer.text(),
      });
    }
    return observed;
  }
}

/** Every read of every existing object, by the tenant's admin. */
function allReads({ ids }: Stage): readonly Drawn[] {
  const named = Object.values(ids).flat();
  return ROUTES.filter(({ method }) => method === 'GET').flatMap((route) => {
    const paths = route.template.includes('{')
      ? named.map((id) => route.template.replace(/\{\w+\}/g, encodeURIComponent(id)))
      : [`${route.template}${route.template === '/v1/search' ? '?q=run_' : ''}`];
    return paths.map((path) => ({
      route,
      method: 'GET',
      path,
      isRoute: true,
      as: 'admin',
      key: undefined,
      headers: {},
      body: undefined,
    }));
  });
}

/** Valid requests about the caller's own objects, because random bodies are rarely valid. */
function soundRequests({ ids }: Stage): fc.Arbitrary<Drawn> {
  const named = Object.values(ids).flat();
  return fc
    .record({
      route: fc.constantFrom(...SOUND),
      id: fc.constantFrom(...named),
      as: fc.constantFrom<Role>('operator', 'admin', 'admin'),
    })
    .map(({ route, id, as }) => {
      const { body } = TABLE[route];
      const { method, template } = ROUTES.find((one) => `${one.method} ${one.template}` === route) as Route;
      return {
        route: { method, template } as Route,
        method,
        path: pathOf(route, { id, type: 'echo', stepId: 'gate', seq: '3', key: 'k', effectId: id }),
        isRoute: true,
        as,
        key: undefined,
        headers: body ? { 'content-type': 'application/json' } : {},
        body: body && JSON.stringify(body),
      };
    });
}

const SOUND = TABLE_ROUTES.filter(
  (route) => !route.startsWith('GET') && TABLE[route].least !== 'installation',
);

test('answers to one tenant do not depend on the actions of another', async () => {
  const stage = await Stage.make();
  const nobody = { value: undefined, principal: undefined, tenantId: undefined };
  const credentials = Object.fromEntries(TENANT_ROLES.map((role) => [role, nobody]));
  const request = fc.oneof(requests({ ids: stage.ids, credentials }), soundRequests(stage));
  const program = fc.array(request, { maxLength: REQUESTS, minLength: REQUESTS / 2 });
  let changedSomething = 0;
  await fc.assert(
    fc.asyncProperty(program, program, async (own, others) => {
      const [quiet, busy] = [await Side.make(), await Side.make()];
      const did = await busy.run(OTHER, others);
      changedSomething += did.filter(
        ({ request, status }) => status < 300 && !/ (GET|HEAD) /.test(request),
      ).length;
      const mine = [...allReads(quiet.stage), ...own, ...allReads(quiet.stage)];
      expect(await busy.run(TENANT, mine)).toEqual(await quiet.run(TENANT, mine));
    }),
    // A failing program is reported without shrinking, because each try creates two installations.
    { numRuns: PROGRAMS, endOnFailure: true },
  );
  // Otherwise every request of the other tenant was refused, and the test proves nothing.
  expect(changedSomething).toBeGreaterThan(PROGRAMS);
});
