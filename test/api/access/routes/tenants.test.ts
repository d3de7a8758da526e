/**
 * No route reveals anything of another tenant: neither in its answer nor in the number of look-ups (the
 * calls to the stores are the same, so the duration is similar).
 */
import { describe, expect, test } from '@jest/globals';
import { type Reach, ROUTES, TABLE } from './table.ts';
import { OWNER, RIVAL, Tenancy } from './tenancy.ts';

const reaching = (...reaches: readonly Reach[]) =>
  ROUTES.filter((route) => reaches.includes(TABLE[route].reach));

const NEW = 'never-sent-before';

/** Everything that was stored before is still stored, unchanged. */
function assertKept(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): void {
  const of = (place: string) => after.get(place);
  expect([...before.keys()].map(of)).toEqual([...before.values()]);
}

describe('a route with the id of a resource', () => {
  test.each(reaching('named'))(
    '%s answers another tenant as if the resource did not exist',
    async (route) => {
      const tenancy = await Tenancy.make();
      const rival = await tenancy.key('admin', RIVAL);
      await tenancy.recordOf(rival, OWNER);
      const before = tenancy.stored();
      for (const { foreign, unknown } of tenancy.foreign(route)) {
        for (const more of [{}, { once: NEW }]) {
          const answer = await tenancy.ask(route, { key: rival, named: foreign, ...more });
          expect(answer).toEqual(await tenancy.ask(route, { key: rival, named: unknown, ...more }));
          expect(answer.status).toBe(404);
          expect(answer.text).not.toContain(OWNER);
        }
      }
      expect(tenancy.stored()).toEqual(before);
      // The object existed before the request.
      const owner = await tenancy.key('admin', OWNER);
      await tenancy.recordOf(owner, OWNER);
      const answer = await tenancy.ask(route, { key: owner, named: tenancy.named(route) });
      expect(answer.status).toBe(TABLE[route].status);
    },
  );
});

describe('a route about the resources of a tenant', () => {
  test.each(reaching('own'))(
    '%s answers a tenant independently of the resources of others',
    async (route) => {
      const answers = [];
      for (const owned of [true, false]) {
        const tenancy = await Tenancy.make({ owned });
        const before = tenancy.stored();
        const named = tenancy.named(route);
        answers.push(await tenancy.ask(route, { key: await tenancy.key('installation', RIVAL), named }));
        assertKept(before, tenancy.stored());
      }
      expect(answers[0]).toEqual(answers[1]);
      expect(answers[0]?.status).toBe(TABLE[route].status);
      expect(answers[0]?.text).not.toContain(OWNER);
    },
  );
});

describe('a route about the whole installation', () => {
  test.each(reaching('all'))('%s tells one tenant nothing of its actions for others', async (route) => {
    const answers = [];
    for (const owned of [true, false]) {
      const tenancy = await Tenancy.make({ owned });
      const key = await tenancy.key('installation', RIVAL);
      const { calls: _, ...answer } = await tenancy.ask(route, { key, named: { type: 'echo' } });
      answers.push(answer);
    }
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]?.status).toBe(TABLE[route].status);
  });
});

describe('a route about the state of the installation', () => {
  test.each(reaching('sums'))('%s names no tenant and no run', async (route) => {
    const tenancy = await Tenancy.make();
    const before = tenancy.stored();
    // The time is long after the owner's runs and schedules became due, so that there are findings.
    tenancy.installation.world.clock.jump(24 * 3_600_000);
    const { status, text } = await tenancy.ask(route, {
      key: await tenancy.key('installation', RIVAL),
      named: {},
    });
    expect(status).toBe(TABLE[route].status);
    expect(text).toContain(route === 'GET /v1/diagnosis' ? 'RUNS_OVERDUE' : 'era_');
    expect(text).not.toContain(OWNER);
    expect(text).not.toMatch(/run_[a-z0-9]{26}/);
    assertKept(before, tenancy.stored());
  });
});
