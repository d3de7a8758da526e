import { afterEach, describe, expect, test } from '@jest/globals';
import { settle } from '../../support/virtual-clock.ts';
import { Installation } from '../installation.ts';
import { cancelReadings, Reading } from './reading.ts';

afterEach(cancelReadings);

async function withRun(tenantId = 'acme') {
  const installation = new Installation();
  const key = await installation.key('dev', { tenantId });
  const answer = await installation.post(key, { type: 'echo', input: { text: 'hello' } });
  const { runId } = (await answer.json()) as { runId: string };
  const open = (query = '', headers: Record<string, string> = {}, by = key) =>
    installation.api.request(`/v1/runs/${runId}/stream${query}`, {
      headers: { authorization: `Bearer ${by}`, ...headers },
    });
  return { installation, key, runId, open };
}

async function withEndedRun() {
  const one = await withRun();
  await one.installation.world.run();
  const listed = await one.installation.get(`/v1/runs/${one.runId}/events?limit=100`, one.key);
  const { items } = (await listed.json()) as { items: { seq: number; type: string }[] };
  return { ...one, items };
}

describe('the stream of a run', () => {
  test('shows every event like the list, and the end of the run', async () => {
    const { open, items } = await withEndedRun();
    const frames = await new Reading(await open()).rest();
    expect(frames.slice(0, -1)).toEqual(
      items.map((item) => ({ id: item.seq, event: item.type, data: item })),
    );
    expect(frames.at(-1)).toEqual({ event: 'end', data: { status: 'completed' } });
  });

  test('sends all events and ends for a client behind a proxy that buffers answers', async () => {
    const { open, installation, key, runId } = await withRun();
    const listed = await installation.get(`/v1/runs/${runId}/events`, key);
    const { items } = (await listed.json()) as { items: { seq: number }[] };
    const frames = await new Reading(await open('?follow=false')).rest();
    expect(frames.map(({ id }) => id)).toEqual(items.map(({ seq }) => seq));
    await installation.world.run();
    const rest = await new Reading(await open(`?follow=false&after=${items.length}`)).rest();
    expect(rest.at(-1)).toEqual({ event: 'end', data: { status: 'completed' } });
    expect((await open('?follow=no')).status).toBe(400);
  });

  test('has the headers that every proxy needs to stream it', async () => {
    const { open } = await withEndedRun();
    const { answer } = new Reading(await open());
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    });
  });

  test.each(['Last-Event-ID', 'after'])('resumes after every seq, named by %s', async (how) => {
    const { open, items } = await withEndedRun();
    for (let seen = 0; seen <= items.length; seen += 1) {
      const answer = how === 'after' ? await open(`?after=${seen}`) : await open('', { [how]: String(seen) });
      const frames = await new Reading(answer).rest();
      expect(frames.map(({ id }) => id)).toEqual([...items.map(({ seq }) => seq).slice(seen), undefined]);
    }
  });

  test.each(['-1', '9999'])('refuses a position at which it cannot begin, and names it: %s', async (seen) => {
    const { open } = await withEndedRun();
    expect(await (await open(`?after=${seen}`)).json()).toMatchObject({ field: 'after' });
    const resumed = await open('?after=1', { 'last-event-id': seen });
    expect(await resumed.json()).toMatchObject({ field: 'Last-Event-ID' });
  });

  test('prefers the header of a reconnecting client to the address it began with', async () => {
    const { open, items } = await withEndedRun();
    const last = items.length;
    const frames = await new Reading(await open('?after=1', { 'last-event-id': String(last - 1) })).rest();
    expect(frames.map(({ id }) => id)).toEqual([last, undefined]);
  });

  test('shows events as they happen, and ends with the run', async () => {
    const { open, installation, runId } = await withRun();
    const reading = new Reading(await open());
    expect(await reading.next()).toMatchObject({ id: 1, event: 'run_created' });
    await installation.world.run();
    const frames = await reading.rest();
    const head = installation.world.db.runs.get(runId)?.events.length ?? 0;
    expect(frames.map(({ id }) => id)).toEqual([
      ...Array.from({ length: head - 1 }, (_, i) => i + 2),
      undefined,
    ]);
    expect(frames.at(-2)?.event).toBe('run_completed');
  });

  test('sends heartbeats while nothing happens, and pauses before its time is up', async () => {
    const { open, installation } = await withRun();
    const reading = new Reading(await open());
    await reading.next();
    await reading.expectHeartbeats(installation.world.clock);
  });

  test('ends when the instance shuts down', async () => {
    const { open, installation } = await withRun();
    const reading = new Reading(await open());
    await reading.next();
    const end = reading.next();
    await settle();
    installation.world.shutdown.abort();
    expect(await end).toBeUndefined();
  });

  test('of HEAD has headers only', async () => {
    const { installation, key, runId } = await withRun();
    for (let i = 0; i < 20; i += 1) {
      const answer = await installation.api.request(`/v1/runs/${runId}/stream`, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${key}` },
      });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toMatch('text/event-stream');
    }
  });
});

describe('a stream is refused', () => {
  test.each(['-1', '1.5', 'x', '1e3', '99999999999', ' 1 2', '0x1'])(
    'with 400 when the last event is %s',
    async (seen) => {
      const { open } = await withRun();
      for (const answer of [await open('', { 'last-event-id': seen }), await open(`?after=${seen}`)]) {
        expect(answer.status).toBe(400);
        expect(await answer.json()).toMatchObject({ code: 'INVALID_INPUT' });
      }
    },
  );

  test('with 400 after an event that does not exist yet', async () => {
    const { open } = await withRun();
    expect((await open('?after=2')).status).toBe(400);
  });

  test('with 400 for a parameter that is unknown', async () => {
    const { open } = await withRun();
    expect((await open('?from=1')).status).toBe(400);
  });

  test('with the same 404 for a run of another tenant as for a missing one', async () => {
    const { open, installation, key } = await withRun('other');
    const stranger = await installation.key('stranger');
    const theirs = await open('', {}, stranger);
    const none = await installation.get(`/v1/runs/run_${'0'.repeat(26)}/stream`, key);
    expect([theirs.status, none.status]).toEqual([404, 404]);
    expect(await theirs.json()).toEqual(await none.json());
  });

  test('with 401 without a key', async () => {
    const { installation, runId } = await withRun();
    expect((await installation.api.request(`/v1/runs/${runId}/stream`)).status).toBe(401);
  });

  test('is open to a viewer', async () => {
    const { open, installation } = await withRun();
    const viewer = await installation.key('viewer', { roles: ['viewer'] });
    expect((await open('', {}, viewer)).status).toBe(200);
  });
});

describe('places for streams', () => {
  test('are limited for a tenant, with a time to retry, and free again when clients leave', async () => {
    const { open, installation } = await withRun();
    installation.shareAmongTenants();
    const mine = await Promise.all(Array.from({ length: 20 }, async () => new Reading(await open())));
    const refused = await open();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await mine[0]?.cancel();
    const again = await open();
    expect(again.status).toBe(200);
    new Reading(again);
  });

  test('are limited for the instance', async () => {
    const { installation } = await withRun();
    installation.shareAmongTenants();
    const streams = async (tenantId: string) => {
      const key = await installation.key(`of-${tenantId}`, { tenantId });
      const started = await installation.post(key, { type: 'echo', input: { text: tenantId } });
      const { runId } = (await started.json()) as { runId: string };
      return Promise.all(Array.from({ length: 10 }, () => installation.get(`/v1/runs/${runId}/stream`, key)));
    };
    for (const tenant of ['a', 'b', 'c', 'd'])
      for (const answer of await streams(tenant)) new Reading(answer);
    const refused = await streams('e');
    expect(refused.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 503));
    expect(refused[0]?.headers.get('retry-after')).not.toBeNull();
  });
});
