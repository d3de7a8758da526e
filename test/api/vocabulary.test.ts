import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { VOCABULARIES, type Vocabulary } from '../../packages/cairn/src/core/run/vocabulary.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { Installation } from './installation.ts';
import { Checked } from './openapi/checked.ts';

const input = z.object({});
const quick = defineWorkflow({
  type: 'quick',
  planVersion: 1,
  input,
  steps: (step) => ({ a: step('a', () => 1) }),
});
const asking = defineWorkflow({
  type: 'asking',
  planVersion: 1,
  input,
  steps: (step) => ({ gate: step.approval('gate', { ask: () => 'may I?' }) }),
});
const listening = defineWorkflow({
  type: 'listening',
  planVersion: 1,
  input,
  steps: (step) => ({ heard: step.event('heard', { event: 'word', key: () => 'k' }) }),
});
const failing = defineWorkflow({
  type: 'failing',
  planVersion: 1,
  input,
  steps: (step) => ({
    a: step('a', { retry: { maxAttempts: 1 } }, (): number => {
      throw new Error('no');
    }),
  }),
});

/** Status word of each run by vocabulary. */
const CALLED: Readonly<Record<string, Readonly<Record<Vocabulary, string>>>> = {
  done: { cairn: 'completed', orca: 'completed', orcho: 'done', gwi: 'completed' },
  failed: { cairn: 'failed', orca: 'failed', orcho: 'failed', gwi: 'failed' },
  asking: {
    cairn: 'awaiting_approval',
    orca: 'waiting_for_human',
    orcho: 'awaiting_phase_handoff',
    gwi: 'awaiting_approval',
  },
  listening: {
    cairn: 'waiting_external',
    orca: 'waiting_for_signal',
    orcho: 'running',
    gwi: 'waiting_external',
  },
  halted: { cairn: 'cancelled', orca: 'canceled', orcho: 'halted', gwi: 'cancelled' },
  cancelled: { cairn: 'cancelled', orca: 'canceled', orcho: 'cancelled', gwi: 'cancelled' },
  fresh: { cairn: 'pending', orca: 'pending', orcho: 'running', gwi: 'pending' },
};

let checked: Checked;
let installation: Installation;
let key: string;
const ids = new Map<string, string>();

beforeAll(async () => {
  installation = new Installation([quick, asking, listening, failing]);
  key = await installation.key('op', { roles: ['operator'] });
  checked = new Checked(installation, key);
  const start = async (name: string, type: string) => {
    const { runId } = await checked.ask('POST /v1/runs', { body: { type, input: {} } });
    ids.set(name, String(runId));
  };
  await start('done', 'quick');
  await start('failed', 'failing');
  await start('asking', 'asking');
  await start('listening', 'listening');
  await start('halted', 'asking');
  await start('cancelled', 'listening');
  await installation.world.run();
  const path = { id: ids.get('halted') ?? '', stepId: 'gate' };
  await checked.ask('POST /v1/runs/{id}/approvals/{stepId}', { path, body: { decision: 'halt' } });
  await checked.ask('POST /v1/runs/{id}/cancel', { path: { id: ids.get('cancelled') ?? '' } });
  await start('fresh', 'quick');
});

describe.each([undefined, ...VOCABULARIES])('in the words of %s', (vocabulary) => {
  const query = vocabulary === undefined ? '' : `?vocabulary=${vocabulary}`;
  const words = vocabulary ?? 'cairn';
  const named = Object.entries(CALLED).map(([name, called]) => ({ name, word: called[words] }));

  test.each(named)('the run $name is $word, and its other members are the same', async ({ name, word }) => {
    const path = { id: ids.get(name) ?? '' };
    const shown = await checked.ask('GET /v1/runs/{id}', { path, query });
    expect(shown.status).toBe(word);
    const own = await checked.ask('GET /v1/runs/{id}', { path });
    expect(shown).toEqual({ ...own, status: word });
  });

  test('the list shows the word of each run', async () => {
    const { items } = (await checked.ask('GET /v1/runs', { query })) as { items: Record<string, unknown>[] };
    const shown = new Map(items.map(({ id, status }) => [id, status]));
    for (const { name, word } of named) expect([name, shown.get(ids.get(name))]).toEqual([name, word]);
  });

  test('the list filtered by a word has exactly the runs shown with it', async () => {
    for (const word of new Set(named.map((one) => one.word))) {
      const filter = `${query === '' ? '?' : `${query}&`}status=${word}`;
      const { items } = (await checked.ask('GET /v1/runs', { query: filter })) as {
        items: Record<string, unknown>[];
      };
      const wanted = named.filter((one) => one.word === word).map(({ name }) => ids.get(name));
      expect([word, items.map(({ id }) => id).sort()]).toEqual([word, wanted.sort()]);
      expect(new Set(items.map(({ status }) => status))).toEqual(new Set([word]));
    }
  });

  test.each(['done', 'failed', 'halted', 'cancelled'])(
    'the stream of %s ends with its word',
    async (name) => {
      const answer = await installation.get(`/v1/runs/${ids.get(name)}/stream${query}`, key);
      const text = await answer.text();
      const [, data = ''] = /^event: end\ndata: (.*)$/m.exec(text) ?? [];
      expect(JSON.parse(data)).toEqual({ status: CALLED[name]?.[words] });
      // The journal is shown as written, because its hashes cover Cairn's words.
      const plain = await installation.get(`/v1/runs/${ids.get(name)}/stream`, key);
      const eventFrames = (all: string) => all.split('\n\n').filter((frame) => frame.startsWith('id:'));
      expect(eventFrames(text)).toEqual(eventFrames(await plain.text()));
    },
  );
});

test.each([
  ['done', ['done']],
  ['halted', ['halted']],
  ['canceled', ['halted', 'cancelled']],
  ['awaiting_human_review', ['asking']],
])('without a vocabulary, status=%s has its usual meaning', async (word, names) => {
  const { items } = (await checked.ask('GET /v1/runs', { query: `?status=${word}` })) as {
    items: Record<string, unknown>[];
  };
  expect(items.map(({ id }) => id).sort()).toEqual(names.map((name) => ids.get(name)).sort());
});

test('a stream that is read while the run is halted ends with the word for halted', async () => {
  const other = new Installation([asking]);
  const operator = await other.key('op', { roles: ['operator'] });
  const { runId } = (await (await other.post(operator, { type: 'asking', input: {} })).json()) as {
    runId: string;
  };
  await other.world.run();
  const stream = await other.get(`/v1/runs/${runId}/stream?vocabulary=orcho`, operator);
  await other.api.request(`/v1/runs/${runId}/approvals/gate`, {
    method: 'POST',
    body: JSON.stringify({ decision: 'halt' }),
    headers: { authorization: `Bearer ${operator}`, 'content-type': 'application/json' },
  });
  expect(await stream.text()).toContain('event: end\ndata: {"status":"halted"}');
});

describe('an unknown vocabulary or word', () => {
  test.each([
    ['/v1/runs?vocabulary=klingon', 'vocabulary'],
    ['/v1/runs?vocabulary=gwi&vocabulary=orca', 'vocabulary'],
    ['/v1/runs?vocabulary=gwi&status=finished', 'status'],
    ['/v1/runs/RUN?vocabulary=klingon', 'vocabulary'],
    ['/v1/runs/RUN?vocabulary=toString', 'vocabulary'],
    ['/v1/runs/RUN/stream?vocabulary=klingon', 'vocabulary'],
    ['/v1/runs/RUN/events?vocabulary=gwi', 'vocabulary'],
  ])('is refused at %s', async (path, field) => {
    const answer = await installation.get(path.replace('RUN', ids.get('done') ?? ''), key);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: 'INVALID_INPUT', field });
  });
});
