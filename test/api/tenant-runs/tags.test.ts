import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { Installation } from '../installation.ts';

const Input = z.object({
  customer: z.string().optional(),
  cents: z.number().optional(),
  token: z.string().optional(),
  throws: z.boolean().optional(),
});

const order = defineWorkflow({
  type: 'order',
  planVersion: 1,
  input: Input,
  secretInput: ['token'],
  tags({ customer, cents, token, throws }) {
    if (throws) throw new Error('no such customer');
    return { customer, large: cents === undefined ? undefined : cents > 1_000, token };
  },
  steps: (step) => ({ done: step('do', ({ input }) => input.customer ?? 'nobody') }),
});

interface Run {
  readonly id: string;
  readonly status: string;
  readonly tags?: readonly string[];
}

let installation: Installation;
beforeEach(() => {
  installation = new Installation([order]);
});

const key = () => installation.key('operator', { roles: ['operator'] });

async function start(input: z.input<typeof Input>, threadId?: string): Promise<string> {
  const answer = await installation.post(await key(), { type: 'order', input, threadId });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { runId: string }).runId;
}

async function get<T>(path: string): Promise<T> {
  const answer = await installation.get(path, await key());
  expect([path, answer.status]).toEqual([path, 200]);
  return (await answer.json()) as T;
}

async function change(path: string, body: object): Promise<Response> {
  return installation.api.request(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${await key()}`, 'content-type': 'application/json' },
  });
}

async function listed(query: string): Promise<string[]> {
  const { items } = await get<{ items: Run[] }>(`/v1/runs?${query}`);
  return items.map(({ id }) => id);
}

describe('tags of a run', () => {
  test('select no run whose thread or idempotency key has the text of a tag', async () => {
    const tagged = await start({ customer: '42' });
    const thread = await start({ customer: '7' }, 'customer:42');
    const body = { type: 'order', input: { customer: '7' } };
    await installation.post(await key(), body, { 'idempotency-key': 'customer:42' });
    expect(await listed('tag=customer:42')).toEqual([tagged]);
    const cancelled = await change('/v1/runs/bulk', {
      act: 'cancel',
      filter: { tag: 'customer:42' },
      reason: 'x',
    });
    expect(await cancelled.json()).toMatchObject({ results: [{ runId: tagged, outcome: 'done' }] });
    const { items } = await get<{ items: { run: Run }[] }>('/v1/search?q=customer:42');
    expect(items.map(({ run }) => run.id)).toContain(thread);
  });

  test('are derived from its input, shown, and found by search, list and counts', async () => {
    const [a, b] = [await start({ customer: '42', cents: 2_000 }), await start({ customer: '7' })];
    expect((await get<Run>(`/v1/runs/${a}`)).tags).toEqual(['customer:42', 'large:true']);
    expect((await get<Run>(`/v1/runs/${b}`)).tags).toEqual(['customer:7']);
    const { items } = await get<{ items: { by: string; run: Run }[] }>('/v1/search?q=customer:42');
    expect(items.map(({ by, run }) => [by, run.id])).toEqual([['tag', a]]);
    expect(await listed('tag=customer:42')).toEqual([a]);
    expect(await listed('tag=customer:42&status=pending')).toEqual([a]);
    expect(await listed('tag=customer:42&status=failed')).toEqual([]);
    expect(await listed('tag=large:true&type=order')).toEqual([a]);
    const { counts } = await get<{ counts: Record<string, number> }>('/v1/runs/counts?tag=customer:7');
    expect(counts.pending).toBe(1);
  });

  test('are absent where the workflow derives none', async () => {
    expect(await get<Run>(`/v1/runs/${await start({})}`)).not.toHaveProperty('tags');
  });

  test('never show a secret member of the input', async () => {
    const { tags } = await get<Run>(`/v1/runs/${await start({ token: 'hunter2' })}`);
    expect(tags).toEqual(['token:[redacted]']);
  });

  test('of a replay are those of its source, of a fork those of its own input', async () => {
    const source = await start({ customer: '42' });
    expect((await change(`/v1/runs/${source}/cancel`, {})).status).toBe(200);
    const made = async (mode: string, body: object) => {
      const answer = await change(`/v1/runs/${source}/${mode}`, body);
      expect(answer.status).toBe(201);
      const { runId } = (await answer.json()) as { runId: string };
      return (await get<Run>(`/v1/runs/${runId}`)).tags;
    };
    expect(await made('replay', {})).toEqual(['customer:42']);
    expect(await made('fork', { input: { customer: '43' } })).toEqual(['customer:43']);
  });

  test.each([
    [{ customer: 'x'.repeat(201) }, /has a value of 'customer' with 201 characters/],
    [{ throws: true }, /'tags' of 'order' threw: no such customer/],
  ])('that are invalid refuse the start, which leaves nothing', async (input, message) => {
    const answer = await installation.post(await key(), { type: 'order', input });
    expect(answer.status).toBe(400);
    const problem = (await answer.json()) as { code: string; field: string; detail: string };
    expect(problem).toMatchObject({ code: 'INVALID_INPUT', field: 'tags' });
    expect(problem.detail).toMatch(message);
    expect(installation.world.db.runs.size).toBe(0);
  });
});
