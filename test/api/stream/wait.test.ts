/** `GET /v1/runs/{id}?wait=…` */
import { describe, expect, test } from '@jest/globals';
import { settle } from '../../support/virtual-clock.ts';
import { Installation } from '../installation.ts';

async function withRun() {
  const installation = new Installation();
  const key = await installation.key('dev', { tenantId: 'acme' });
  const answer = await installation.post(key, { type: 'echo', input: { text: 'hello' } });
  const { runId } = (await answer.json()) as { runId: string };
  const read = (query: string, by = key) => installation.get(`/v1/runs/${runId}${query}`, by);
  return { installation, key, runId, read };
}

/** Returns whether an answer has arrived, without waiting for it. */
function watched(answer: Promise<Response>) {
  const seen = { hasCome: false };
  void answer.then(() => {
    seen.hasCome = true;
  });
  return seen;
}

describe('a read that waits', () => {
  test('is answered when the run has ended', async () => {
    const { installation, read } = await withRun();
    const answer = read('?wait=50s');
    const seen = watched(answer);
    await settle();
    expect(seen.hasCome).toBe(false);
    await installation.world.run();
    expect(await (await answer).json()).toMatchObject({ status: 'completed' });
  });

  test('is answered at once when the run has already ended', async () => {
    const { installation, read } = await withRun();
    await installation.world.run();
    expect(await (await read('?wait=50s&vocabulary=cairn')).json()).toMatchObject({ status: 'completed' });
  });

  test('is answered with the current run when the time is over', async () => {
    const { installation, read } = await withRun();
    const answer = read('?wait=2s');
    await settle();
    const { clock } = installation.world;
    const until = clock.now() + 2_000;
    while (clock.fireNext(until)) await settle();
    expect(await (await answer).json()).toMatchObject({ status: 'pending' });
  });

  test.each(['0s', '51s', '30', '1m', '-1s', '1.5s', '030s'])('for %s is refused', async (wait) => {
    const { read } = await withRun();
    const answer = await read(`?wait=${wait}`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ field: 'wait' });
  });

  test('of a run of another tenant is answered at once like one of a missing run', async () => {
    const { installation, read } = await withRun();
    const other = await installation.key('other', { tenantId: 'other' });
    expect((await read('?wait=50s', other)).status).toBe(404);
  });

  test('takes one of the places of its tenant, and releases it', async () => {
    const { installation, read } = await withRun();
    installation.shareAmongTenants();
    const waiting = Array.from({ length: 20 }, () => read('?wait=50s'));
    await settle();
    expect((await read('?wait=50s')).status).toBe(429);
    expect((await read('')).status).toBe(200);
    await installation.world.run();
    for (const answer of await Promise.all(waiting)) expect(answer.status).toBe(200);
    expect((await read('?wait=1s')).status).toBe(200);
  });

  test('is one of dozens on the local cloud', async () => {
    const { installation, read } = await withRun();
    const waiting = Array.from({ length: 60 }, () => read('?wait=50s'));
    await settle();
    await installation.world.run();
    for (const answer of await Promise.all(waiting)) expect(answer.status).toBe(200);
  });

  test('of a run that has ended takes no place', async () => {
    const { installation, key, read } = await withRun();
    installation.shareAmongTenants();
    await installation.world.run();
    const answer = await installation.post(key, { type: 'echo', input: { text: 'again' } });
    const { runId: open } = (await answer.json()) as { runId: string };
    const waiting = Array.from({ length: 20 }, () => installation.get(`/v1/runs/${open}?wait=50s`, key));
    await settle();
    expect((await read('?wait=50s')).status).toBe(200);
    await installation.world.run();
    await Promise.all(waiting);
  });
});
