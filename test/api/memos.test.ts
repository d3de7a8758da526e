import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { Installation } from './installation.ts';

interface Page {
  readonly items: readonly {
    readonly step: string;
    readonly revision: number;
    readonly undoes?: true;
    readonly name: string;
    readonly value: unknown;
    readonly recordedAt: string;
  }[];
  readonly next?: string;
}

const SECRET = 's3cret-address';

const remembers = defineWorkflow({
  type: 'remembers',
  planVersion: 1,
  input: z.object({ pages: z.number(), replyTo: z.string(), pin: z.number() }),
  secretInput: ['replyTo', 'pin'],
  steps(step) {
    const read = step(
      'read',
      { compensate: async ({ memo }) => void (await memo('taken back', () => 'yes')) },
      async ({ input, memo }) => {
        for (let page = 1; page <= input.pages; page += 1) await memo(`page ${page}`, () => ({ rows: page }));
        await memo(`for ${input.replyTo}`, () => ({ to: [`<${input.replyTo}>`], pin: input.pin, ok: true }));
      },
    );
    const each = step.map('each', { needs: { read }, over: () => ['x', 'y'] }, ({ item, memo }) =>
      memo('item', () => item),
    );
    return {
      end: step('end', { needs: { each } }, () => {
        throw new Error('no end');
      }),
    };
  },
});

const retries = defineWorkflow({
  type: 'retries',
  planVersion: 1,
  input: z.unknown(),
  steps: (step) => ({
    done: step('flaky', { retry: { maxAttempts: 2, initialMs: 60_000 } }, async ({ memo, attempt }) => {
      const recorded = await memo('recorded in attempt', () => attempt);
      if (attempt === 1) throw new Error('once');
      return recorded;
    }),
  }),
});

async function ran(pages = 3, type = 'remembers') {
  const installation = new Installation([remembers, retries]);
  const key = await installation.key('viewer');
  const starter = await installation.key('submitter');
  const input = { pages, replyTo: SECRET, pin: 12_345_678 };
  const started = await installation.post(starter, { type, input });
  const { runId } = (await started.json()) as { runId: string };
  const text = async (query: string) =>
    (await installation.get(`/v1/runs/${runId}/memos?${query}`, key)).text();
  const read = async (query: string) => JSON.parse(await text(query)) as Page;
  return { installation, runId, read, text };
}

const names = ({ items }: Page) => items.map(({ name }) => name);

test('memos of a step are listed by name, page by page, with value and time', async () => {
  const { installation, read } = await ran(25);
  await installation.world.run();
  const first = await read('step=read&limit=20');
  expect(first.items[0]).toEqual({
    step: 'read',
    revision: 1,
    name: 'for [redacted]',
    value: expect.anything(),
    recordedAt: expect.stringMatching(/^2026-01-01T/),
  });
  expect(first.items.find(({ name }) => name === 'page 2')?.value).toEqual({ rows: 2 });
  const rest = await read(`step=read&limit=20&cursor=${first.next}`);
  expect(rest.next).toBeUndefined();
  expect([...names(first), ...names(rest)].sort()).toEqual(
    ['for [redacted]', ...Array.from({ length: 25 }, (_, at) => `page ${at + 1}`)].sort(),
  );
});

test('an item, a compensation and a revision have their own memos', async () => {
  const { installation, read } = await ran();
  await installation.world.run();
  expect((await read('step=each%5B1%5D')).items).toMatchObject([{ step: 'each[1]', value: 'y' }]);
  expect((await read('step=read&undoes=true')).items).toMatchObject([
    { step: 'read', undoes: true, name: 'taken back', value: 'yes' },
  ]);
  expect(await read('step=read&revision=2')).toEqual({ items: [] });
});

test('a step that has not begun or does not exist has none', async () => {
  const { read } = await ran();
  expect(await read('step=read')).toEqual({ items: [] });
  expect(await read(`step=${encodeURIComponent('../'.repeat(300))}`)).toEqual({ items: [] });
});

test('secret members of the input are masked in names and values', async () => {
  const { installation, read, text } = await ran();
  await installation.world.run();
  const shown = await text('step=read');
  expect(shown).not.toContain(SECRET);
  expect(shown).not.toContain('12345678');
  const secret = (await read('step=read')).items.find(({ name }) => name === 'for [redacted]');
  expect(secret?.value).toEqual({ to: ['<[redacted]>'], pin: '[redacted]', ok: true });
});

test('memos of a failed attempt are listed before those of the next, and do not change', async () => {
  const { installation, runId, read } = await ran(3, 'retries');
  const { world } = installation;
  await world.run(() => world.stateOf(runId).steps.get('flaky')?.phase === 'retrying');
  const before = await read('step=flaky');
  expect(before.items).toMatchObject([{ name: 'recorded in attempt', value: 1 }]);
  await world.run();
  expect(world.stateOf(runId).status).toBe('completed');
  expect(await read('step=flaky')).toEqual(before);
});
