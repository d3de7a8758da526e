import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { Installation } from '../installation.ts';

const order = defineWorkflow({
  type: 'order',
  planVersion: 1,
  input: z.object({ customer: z.string(), cents: z.number() }),
  tags: ({ customer, cents }) => ({ customer, cents }),
  steps: (step) => ({ done: step('do', ({ input }) => input.customer) }),
});

let installation: Installation;
let runs: string[];
beforeEach(async () => {
  installation = new Installation([order]);
  runs = [];
  for (const [customer, cents] of [
    ['ada', 50],
    ['bo', 150],
    ['adam', 250],
  ] as const) {
    const input = { customer, cents };
    const answer = await installation.post(await key(), { type: 'order', input });
    runs.push(((await answer.json()) as { runId: string }).runId);
    installation.world.clock.jump(1_000);
  }
});

const key = () => installation.key('operator', { roles: ['operator'] });

async function ask(query: string) {
  const answer = await installation.get(`/v1/runs?${query}`, await key());
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

async function listed(query: string): Promise<number[]> {
  const { status, body } = await ask(query);
  expect([query, status]).toEqual([query, 200]);
  return (body.items as { id: string }[]).map(({ id }) => runs.indexOf(id));
}

describe('a list of runs', () => {
  test.each([
    ['match=cents%3E100', [2, 1]],
    ['match=cents%3C%3D150', [1, 0]],
    ['match=customer:ada*', [2, 0]],
    ['match=ADA', [2, 0]],
    ['match=nobody', []],
    ['match=cents%3E100&tag=customer:bo', [1]],
    ['sort=newest', [2, 1, 0]],
    ['sort=oldest', [0, 1, 2]],
    ['sort=oldest&limit=2', [0, 1]],
    ['sort=longest', [0, 1, 2]],
    ['sort=updated', [2, 1, 0]],
    ['sort=oldest&match=cents%3E100', [1, 2]],
    ['sort=oldest&topLevel=true&type=order', [0, 1, 2]],
  ])('by %s', async (query, expected) => {
    expect(await listed(query)).toEqual(expected);
  });

  test('by match continues at its cursor', async () => {
    const { body } = await ask('match=cents%3E100&limit=1');
    expect(body.next).toEqual(expect.any(String));
    expect(await listed(`match=cents%3E100&limit=1&cursor=${body.next}`)).toEqual([1]);
  });

  /** Positions over all pages. */
  async function pagesOf(query: string): Promise<number[]> {
    const found: number[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await ask(`${query}${cursor}`);
      found.push(...(body.items as { id: string }[]).map(({ id }) => runs.indexOf(id)));
      if (body.next === undefined) return found;
      cursor = `&cursor=${body.next}`;
    }
  }

  test.each([
    ['sort=oldest', [0, 1, 2]],
    ['sort=longest', [0, 1, 2]],
    ['sort=updated', [2, 1, 0]],
    ['sort=updated&match=cents%3E100', [2, 1]],
    ['sort=longest&type=order&status=pending', [0, 1, 2]],
  ])('in %s continues at its cursor, however short its pages', async (query, expected) => {
    for (const limit of [1, 2, 3]) expect(await pagesOf(`${query}&limit=${limit}`)).toEqual(expected);
  });

  test('of more than a thousand is sorted as a whole, across its pages', async () => {
    const token = await key();
    for (let n = 0; n < 1_100; n += 1) {
      await installation.post(token, { type: 'order', input: { customer: `no-${n}`, cents: 1 } });
      installation.world.clock.jump(1);
    }
    const made = [0, 1, 2, ...Array<number>(1_100).fill(-1)];
    expect(await listed('sort=oldest&limit=2')).toEqual([0, 1]);
    expect(await pagesOf('sort=longest&limit=100')).toEqual(made);
    expect(await pagesOf('sort=oldest&limit=100')).toEqual(made);
    expect(await pagesOf('sort=updated&limit=100')).toEqual(made.toReversed());
    expect(await pagesOf('sort=oldest&match=cents%3E200')).toEqual([2]);
  });

  test.each([
    ['sort=smallest', 'sort'],
    ['match=cents%3E', 'match'],
    ['match=*', 'match'],
    ['sort=oldest&cursor=x', 'cursor'],
    ['sort=longest&cursor=WyJydW5zIiw1LCJydW5fMSJd', 'cursor'],
  ])('is refused by %s, with the reason', async (query, field) => {
    const { status, body } = await ask(query);
    expect([status, body.code, body.field]).toEqual([400, 'INVALID_INPUT', field]);
    expect(body.help).toEqual(expect.any(String));
  });
});
