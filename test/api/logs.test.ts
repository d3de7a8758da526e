import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { Installation } from './installation.ts';

interface Page {
  readonly items: readonly { readonly step: string; readonly message: string; readonly at: string }[];
  readonly next?: string;
  readonly after?: string;
  readonly ended: boolean;
}

const chatty = defineWorkflow({
  type: 'chatty',
  planVersion: 1,
  input: z.object({ lines: z.number() }),
  steps(step) {
    const first = step('first', ({ input, log }) => {
      for (let n = 0; n < input.lines; n += 1) log(`line ${n}`, { n });
    });
    return {
      each: step.map('each', { needs: { first }, over: () => ['x', 'y'] }, ({ item, log }) => log.warn(item)),
    };
  },
});

async function ran(lines: number) {
  const installation = new Installation([chatty]);
  const key = await installation.key('viewer');
  const starter = await installation.key('submitter');
  const started = await installation.post(starter, { type: 'chatty', input: { lines } });
  const { runId } = (await started.json()) as { runId: string };
  const get = (query = '') => installation.get(`/v1/runs/${runId}/logs${query}`, key);
  const read = async (query = '') => (await (await get(query)).json()) as Page;
  return { installation, runId, get, read, key };
}

describe('GET /v1/runs/{id}/logs', () => {
  test('pages through all lines, oldest first, and says whether more may come', async () => {
    const { installation, read } = await ran(250);
    expect(await read()).toEqual({ items: [], ended: false });
    await installation.world.run();
    const messages: string[] = [];
    let page = await read('?limit=100');
    const sizes = [page.items.length];
    messages.push(...page.items.map(({ message }) => message));
    while (page.next !== undefined) {
      page = await read(`?limit=100&cursor=${page.next}`);
      sizes.push(page.items.length);
      messages.push(...page.items.map(({ message }) => message));
    }
    expect(sizes).toEqual([100, 100, 52]);
    expect(messages.slice(0, 250)).toEqual(Array.from({ length: 250 }, (_, n) => `line ${n}`));
    expect(messages.slice(250).sort()).toEqual(['x', 'y']);
    expect(page.ended).toBe(true);
    expect(await read(`?cursor=${page.after}`)).toEqual({ items: [], after: page.after, ended: true });
  });

  test('has `after` for lines that are added later', async () => {
    const { installation, runId, read } = await ran(2);
    await installation.world.run();
    const { after } = await read();
    const line = { kind: 'log', at: 0, level: 'info', step: 'first', revision: 1, attempt: 1 } as const;
    installation.world.db.runs
      .get(runId)
      ?.logs.set('0000000002-000001', { id: '0000000002-000001', lines: [{ ...line, message: 'later' }] });
    const { items } = await read(`?cursor=${after}`);
    expect(items).toEqual([{ ...line, at: '1970-01-01T00:00:00.000Z', message: 'later' }]);
  });

  test.each([
    ['?step=each', ['x', 'y']],
    ['?step=each[1]', ['y']],
    ['?step=eac', []],
    ['?level=warn', ['x', 'y']],
    ['?level=error', []],
    ['?level=info&step=first', ['line 0']],
  ])('filters by %s', async (query, expected) => {
    const { installation, read } = await ran(1);
    await installation.world.run();
    expect((await read(query)).items.map(({ message }) => message).sort()).toEqual(expected);
  });

  test('refuses levels that are not kept, and cursors of other lists', async () => {
    const { installation, get, runId, key } = await ran(1);
    await installation.world.run();
    const level = await get('?level=debug');
    expect([level.status, await level.json()]).toMatchObject([400, { field: 'level' }]);
    const events = await installation.get(`/v1/runs/${runId}/events?limit=1`, key);
    const { next } = (await events.json()) as { next: string };
    const cursor = await get(`?cursor=${next}`);
    expect([cursor.status, await cursor.json()]).toMatchObject([400, { field: 'cursor' }]);
  });

  test('counts the lines of the run', async () => {
    const { installation, runId, key } = await ran(1_200);
    await installation.world.run();
    const run = await (await installation.get(`/v1/runs/${runId}`, key)).json();
    expect(run).toMatchObject({ logs: { lines: 1_003, dropped: 200 } });
  });
});
