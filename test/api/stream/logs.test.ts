import { afterEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { CairnClient } from '../../../packages/client/src/client.ts';
import {
  type StreamedLine,
  type StreamedTexts,
  withLine,
} from '../../../packages/client/src/streamed-text.ts';
import { settle } from '../../support/virtual-clock.ts';
import { Installation } from '../installation.ts';
import { cancelReadings, type Frame, Reading } from './reading.ts';

const ANSWER = 'The tide turns twice a day.';

afterEach(cancelReadings);

const talk = defineWorkflow({
  type: 'talk',
  planVersion: 1,
  input: z.object({}),
  steps(step) {
    const said = step('say', { retry: { maxAttempts: 2, initialMs: 1 } }, ({ stream, log, attempt }) => {
      stream('The tide ');
      log.warn('asked');
      if (attempt === 1) throw new Error('cut off');
      for (const word of ANSWER.slice('The tide '.length).split(/(?<= )/)) stream(word);
      return ANSWER;
    });
    return { noted: step('note', { needs: { said } }, ({ log }) => log('noted')) };
  },
});

async function started() {
  const installation = new Installation([talk]);
  const key = await installation.key('dev');
  const answer = await installation.post(key, { type: 'talk', input: {} });
  const { runId } = (await answer.json()) as { runId: string };
  const open = (query = '', headers: Record<string, string> = {}, by = key) =>
    installation.api.request(`/v1/runs/${runId}/logs/stream${query}`, {
      headers: { authorization: `Bearer ${by}`, ...headers },
    });
  return { installation, key, runId, open };
}

async function ended() {
  const one = await started();
  await one.installation.world.run();
  return one;
}

const rest = async (answer: Response) => new Reading(answer).rest();
const eventsIn = (frames: readonly Frame[]) => frames.map(({ event }) => event);

function textIn(frames: readonly Frame[]): StreamedTexts {
  let texts: StreamedTexts = new Map();
  for (const { event, data } of frames)
    if (event === 'attempt' || event === 'text' || event === 'text_end')
      texts = withLine(texts, { ...data, kind: event } as StreamedLine);
  return texts;
}

describe('the stream of what a run logs and streams', () => {
  test('has lines and text in order, the attempt of each text, and the end of the run', async () => {
    const { open } = await ended();
    const frames = await rest(await open());
    expect(eventsIn(frames)).toEqual([
      'attempt',
      'text',
      'log',
      'attempt',
      'text',
      'log',
      'text_end',
      'log',
      'end',
    ]);
    const by = { at: expect.any(String), step: 'say', revision: 1, attempt: 2 };
    expect(frames[4]).toEqual({
      id: expect.any(String),
      event: 'text',
      data: { ...by, offset: 0, text: ANSWER },
    });
    expect(frames[2]?.data).toMatchObject({ kind: 'log', level: 'warn', message: 'asked', attempt: 1 });
    expect(frames.at(-1)).toEqual({ event: 'end', data: { status: 'completed' } });
    expect(textIn(frames).get('say')).toMatchObject({ text: ANSWER, state: 'whole', attempt: 2 });
  });

  test.each(['Last-Event-ID', 'after'])('resumes after every event, named by %s', async (how) => {
    const { open } = await ended();
    const frames = await rest(await open());
    for (const [index, { id }] of frames.slice(0, -1).entries()) {
      const place = String(id);
      const answer =
        how === 'after' ? await open(`?after=${place}`) : await open('?after=x', { [how]: place });
      expect(await rest(answer)).toEqual(frames.slice(index + 1));
    }
  });

  test.each([
    ['?kind=log', ['log', 'log', 'log', 'end']],
    ['?kind=text', ['attempt', 'text', 'attempt', 'text', 'text_end', 'end']],
    ['?step=note', ['log', 'end']],
    ['?level=warn', ['log', 'log', 'end']],
    ['?level=info&step=say&kind=log', ['log', 'log', 'end']],
  ])('filters by %s', async (query, expected) => {
    const { open } = await ended();
    expect(eventsIn(await rest(await open(query)))).toEqual(expected);
  });

  test('shows lines as they are written, and ends with the run', async () => {
    const { open, installation } = await started();
    const reading = new Reading(await open());
    const frames = reading.rest();
    await settle();
    await installation.world.run();
    expect(textIn(await frames).get('say')?.text).toBe(ANSWER);
  });

  test('sends all lines and ends for a client behind a proxy that buffers answers', async () => {
    const { open, installation } = await started();
    expect(await rest(await open('?follow=false'))).toEqual([]);
    await installation.world.run();
    expect(eventsIn(await rest(await open('?follow=false'))).at(-1)).toBe('end');
  });

  test('sends heartbeats while nothing happens, and pauses before its time is up', async () => {
    const { open, installation } = await started();
    await new Reading(await open()).expectHeartbeats(installation.world.clock);
  });

  test('ends when the instance shuts down, and of HEAD has headers only', async () => {
    const { open, installation, runId, key } = await started();
    const end = new Reading(await open()).next();
    await settle();
    installation.world.shutdown.abort();
    expect(await end).toBeUndefined();
    const head = await installation.api.request(`/v1/runs/${runId}/logs/stream`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${key}` },
    });
    expect(head.headers.get('content-type')).toMatch('text/event-stream');
  });

  test.each([
    ['?after=17', {}, 'after'],
    ['', { 'last-event-id': 'eyJ' }, 'Last-Event-ID'],
    ['?kind=words', {}, 'kind'],
    ['?level=debug', {}, 'level'],
    ['?follow=no', {}, 'follow'],
  ])('reports what is wrong with %s %j', async (query, headers, field) => {
    const { open } = await started();
    const answer = await open(query, headers as Record<string, string>);
    expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'INVALID_INPUT', field }]);
  });

  test("is closed to other tenants, and takes one of the caller's places for streams", async () => {
    const { open, installation } = await started();
    installation.shareAmongTenants();
    const stranger = await installation.key('stranger', { tenantId: 'other' });
    expect((await open('', {}, stranger)).status).toBe(404);
    for (let n = 0; n < 20; n += 1) new Reading(await open());
    expect((await open()).status).toBe(429);
  });
});

test('the client assembles the text across every cut, and resumes from a position', async () => {
  const { installation, key, runId } = await ended();
  const requests: (string | undefined)[] = [];
  const client = new CairnClient({
    url: 'http://cairn.invalid',
    credential: key,
    sleep: async () => {},
    fetch: async (url, init) => {
      const headers = init.headers as Record<string, string>;
      requests.push(headers['last-event-id']);
      const answer = await installation.api.request(url.slice('http://cairn.invalid'.length), { headers });
      const whole = await answer.text();
      // Each response delivers two events, and half of a third.
      const cuts = [...whole.matchAll(/\n\n/g)].map(({ index }) => index);
      return new Response(whole.slice(0, (cuts[2] ?? whole.length) + 20));
    },
  });
  let texts: StreamedTexts = new Map();
  const ids: string[] = [];
  const logged: string[] = [];
  for await (const one of client.followLogs(runId)) {
    if (one.kind === 'text') texts = withLine(texts, one.line);
    if (one.kind === 'log') logged.push(one.line.message);
    if (one.kind === 'text' || one.kind === 'log') ids.push(one.id);
    if (one.kind === 'end') expect(one.status).toBe('completed');
  }
  expect(texts.get('say')).toMatchObject({ text: ANSWER, state: 'whole' });
  expect(logged).toEqual(['asked', 'asked', 'noted']);
  expect(new Set(ids).size).toBe(ids.length);
  expect(requests.length).toBeGreaterThan(2);
  const later: string[] = [];
  for await (const one of client.followLogs(runId, { after: ids.at(-2) ?? '', kind: 'log' }))
    later.push(one.kind);
  expect(later).toEqual(['log', 'end']);
});
