import { beforeEach, describe, expect, test } from '@jest/globals';
import { canonicalJson } from '../../../packages/cairn/src/core/encoding/json.ts';
import { payloadRefOf } from '../../../packages/cairn/src/core/run/payload.ts';
import { Installation } from '../installation.ts';

/** JSON text that is too large for a checkpoint, with multi-byte characters. */
const text = '🪨ü"\n'.repeat(40_000);

let installation: Installation;
let key: string;
let runId: string;
beforeEach(async () => {
  installation = new Installation();
  key = await installation.key('dev');
  const answer = await installation.post(key, { type: 'echo', input: { text } });
  expect(answer.status).toBe(201);
  ({ runId } = (await answer.json()) as { runId: string });
});

const inputText = canonicalJson({ text });
const inputRef = { checkpoint: 1, ...payloadRefOf(inputText) };

describe('an input stored in a payload', () => {
  test('is referred to by its run, not shown', async () => {
    const run = (await (await installation.get(`/v1/runs/${runId}`, key)).json()) as Record<string, unknown>;
    expect(run.inputRef).toEqual(inputRef);
    expect(run).not.toHaveProperty('input');
    expect(JSON.stringify(run).length).toBeLessThan(10_000);
  });

  test('is referred to by its checkpoint', async () => {
    const list = await (await installation.get(`/v1/runs/${runId}/checkpoints`, key)).json();
    const { checkpoint: seq, ...outputRef } = inputRef;
    expect(list).toMatchObject({ items: [{ seq, boundary: 'run_created', outputRef }] });
  });

  test('is read as a whole, byte for byte', async () => {
    const answer = await installation.get(`/v1/runs/${runId}/checkpoints/1/output`, key);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect((await answer.text()) === inputText).toBe(true);
  });

  test('is readable by its tenant only', async () => {
    const stranger = await installation.key('stranger', { tenantId: 'other' });
    const answer = await installation.get(`/v1/runs/${runId}/checkpoints/1/output`, stranger);
    const missing = await installation.get(`/v1/runs/run_${'a'.repeat(26)}/checkpoints/1/output`, stranger);
    expect([answer.status, await answer.json()]).toEqual([404, await missing.json()]);
  });
});

describe('the output of a checkpoint', () => {
  beforeEach(async () => {
    const answer = await installation.post(key, { type: 'echo', input: { text: 'small' } });
    ({ runId } = (await answer.json()) as { runId: string });
    await installation.world.run();
  });

  test('is read in the same way if it is stored in the checkpoint itself', async () => {
    const { checkpointHead } = await installation.world.folded(runId);
    const answer = await installation.get(`/v1/runs/${runId}/checkpoints/${checkpointHead}/output`, key);
    expect(await answer.text()).toBe('{"said":{"text":"small"}}');
  });

  test.each(['0', '01', '-1', 'x', '1e1', '99999999999', '9999999999', '1'])(
    'that does not exist (%s) is answered 404',
    async (seq) => {
      const answer = await installation.get(`/v1/runs/${runId}/checkpoints/${seq}/output`, key);
      expect([answer.status, await answer.json()]).toEqual([
        404,
        expect.objectContaining({ code: 'NOT_FOUND' }),
      ]);
    },
  );

  test('of a checkpoint that carries none is answered 404', async () => {
    const { items } = (await (await installation.get(`/v1/runs/${runId}/checkpoints`, key)).json()) as {
      items: { seq: number; boundary: string }[];
    };
    const started = items.find(({ boundary }) => boundary === 'run_started');
    const answer = await installation.get(`/v1/runs/${runId}/checkpoints/${started?.seq}/output`, key);
    expect([answer.status, await answer.json()]).toMatchObject([
      404,
      { detail: 'the checkpoint has no output' },
    ]);
  });

  test('takes no query parameters, and allows no other method', async () => {
    expect((await installation.get(`/v1/runs/${runId}/checkpoints/1/output?x=1`, key)).status).toBe(400);
    const posted = await installation.api.request(`/v1/runs/${runId}/checkpoints/1/output`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
    });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

test('some of many concurrent large starts of a tenant are answered 429, and none is lost or made twice', async () => {
  const large = '1'.repeat(2 * 1024 * 1024);
  const starts = Array.from({ length: 6 }, (_, i) =>
    installation.post(key, { type: 'echo', input: { text: large } }, { 'idempotency-key': `k${i % 3}` }),
  );
  const answers = await Promise.all(starts);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.every(({ headers }) => headers.has('retry-after'))).toBe(true);
  for (let i = 0; i < 3; i += 1) {
    const again = await installation.post(
      key,
      { type: 'echo', input: { text: large } },
      { 'idempotency-key': `k${i}` },
    );
    expect([200, 201]).toContain(again.status);
  }
  // The start of every test of this file, and these three.
  expect(installation.world.db.runs.size).toBe(4);
});

test('many reads of a large value at once are all answered', async () => {
  const large = '1'.repeat(2 * 1024 * 1024);
  const started = await installation.post(key, { type: 'echo', input: { text: large } });
  const { runId: of } = (await started.json()) as { runId: string };
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => installation.get(`/v1/runs/${of}/checkpoints/1/output`, key)),
  );
  const lengths = await Promise.all(answers.map(async (answer) => (await answer.text()).length));
  expect(new Set(lengths)).toEqual(new Set([`{"text":"${large}"}`.length]));
});
