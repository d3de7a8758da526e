/** The daily budget over the API: who may read the amounts, and who may raise the limits. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { Installation } from '../installation.ts';

const costly = defineWorkflow({
  type: 'costly',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({
    ask: step('ask', { estimate: { usd: 2 } }, async ({ usage }) => usage({ usd: 2 })),
  }),
});

test('the budget of the day is read by its tenant and by the installation; the installation raises it', async () => {
  const installation = new Installation([costly], [], { perTenantAndDay: { usd: 3, effects: 9 } });
  const viewer = await installation.key('viewer', { roles: ['viewer'] });
  const operator = await installation.key('operator', { roles: ['operator'] });
  const owner = await installation.key('owner', { roles: ['installation'] });
  const elsewhere = await installation.key('other', { tenantId: 'elsewhere', roles: ['installation'] });
  const read = async (key: string, query = '') => {
    const answer = await installation.get(`/v1/budgets/today${query}`, key);
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const today = { day: '2026-01-01', nextDayAt: '2026-01-02T00:00:00.000Z' };
  expect(await read(viewer)).toEqual({
    status: 200,
    body: {
      tenantId: 'acme',
      ...today,
      limits: { usd: 3, effects: 9 },
      spent: {},
      held: {},
      raises: [],
    },
  });
  for (let i = 0; i < 2; i += 1)
    expect((await installation.post(operator, { type: 'costly', input: {} })).status).toBe(201);
  const asks = () =>
    [...installation.world.db.runs.values()].find(({ snapshot }) => snapshot.waits.length > 0);
  await installation.world.run(() => asks()?.snapshot.status === 'awaiting_approval');
  expect((await read(viewer)).body).toMatchObject({ spent: { usd: 2 }, held: {} });

  expect((await read(viewer, '?tenantId=elsewhere')).body).toMatchObject({ code: 'FORBIDDEN' });
  expect((await read(elsewhere, '?tenantId=acme')).body).toMatchObject({ spent: { usd: 2 } });
  expect((await read(elsewhere)).body).toMatchObject({ tenantId: 'elsewhere', spent: {} });

  const path = `/v1/runs/${asks()?.snapshot.id}/approvals/ask`;
  const approve = (key: string) =>
    installation.api.request(path, {
      method: 'POST',
      body: JSON.stringify({ decision: 'approve', raise: { usd: 1 } }),
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
  const refused = await approve(operator);
  expect([refused.status, ((await refused.json()) as { help: string }).help]).toEqual([
    403,
    expect.stringContaining('The run resumes by itself at 2026-01-02T00:00:00.000Z'),
  ]);
  expect((await approve(owner)).status).toBe(200);
  await installation.world.run(() => !asks());
  expect((await read(viewer)).body).toMatchObject({
    limits: { usd: 4 },
    raises: [{ by: expect.any(String), at: expect.any(String), amounts: { usd: 1 } }],
  });
});
