/**
 * A run whose document has pages gives the same answers as one that fits into a document. The same program runs in two
 * installations, one of which stores almost nothing in the document itself.
 */
import { afterAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { FirestoreEffectStore } from '../../../packages/cairn/src/store/firestore-effect-store.ts';
import { FirestoreIntegrityStore } from '../../../packages/cairn/src/store/integrity/firestore-integrity-store.ts';
import type { PageBudget } from '../../../packages/cairn/src/store/pages/spill.ts';
import { FirestoreRunWatch } from '../../../packages/cairn/src/store/watch/firestore-run-watch.ts';
import type { RunEvent, RunGraph } from '../../../packages/console/src/pages/run/live/events.ts';
import { RunFollower } from '../../../packages/console/src/pages/run/live/run-follower.ts';
import { listening, saying } from '../../cli/support/stage.ts';
import { type BilledWorld, BilledWorlds } from '../../engine/cost/billed-world.ts';
import { eventually } from '../../system/support.ts';
import { Installation } from '../installation.ts';

const ITEMS = 60;
const isSoldOut = (item: number) => item % 10 === 9;
const isKept = (item: number) => item % 3 === 0;
const UNDONE = Array.from({ length: ITEMS }, (_, i) => i).filter((i) => !isSoldOut(i) && !isKept(i)).length;
/** So small that every list of the run is moved out of its document, into many pages. */
const TINY: PageBudget = { documentBytes: 1_000, pageBytes: 300, commitBytes: 2 * 1024 * 1024 };

const worlds = new BilledWorlds();
afterAll(() => worlds.close());

/** Ends with a question, and has items that succeeded and items that failed. Every third compensation fails. */
const collecting = defineWorkflow({
  type: 'collecting',
  planVersion: 1,
  input: z.object({}),
  steps(step) {
    const parts = step.map(
      'part',
      {
        over: () => Array.from({ length: ITEMS }, (_, i) => i),
        completion: { tolerate: ITEMS },
        compensate: ({ item }) => {
          if (isKept(Number(item))) throw new Fatal(`part ${item} cannot be given back`);
        },
      },
      ({ item }) => {
        if (isSoldOut(item)) throw new Fatal(`part ${item} is sold out`);
        return { part: item };
      },
    );
    return { sent: step.approval('send', { needs: { parts }, ask: () => 'all there?', timeout: '30d' }) };
  },
});

/** All answers about the run, by caller. */
async function told(billed: BilledWorld, runId: string) {
  const installation = new Installation([collecting]);
  const { deps, records, db } = billed;
  const { mailboxes } = deps;
  const { shutdown, ...parts } = installation.apiDeps;
  const api = createApi({
    ...parts,
    ...deps,
    records,
    shutdown,
    effects: new FirestoreEffectStore(db),
    mailboxes,
    integrity: new FirestoreIntegrityStore(db),
    watch: new FirestoreRunWatch(db),
  });
  const key = await installation.key('reader', { tenantId: 't1', roles: ['installation'] });
  const request = (path: string, init: RequestInit = {}) =>
    Promise.resolve(
      api.request(path, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } }),
    );
  const get = async (path: string) => {
    const answer = await request(path);
    expect(answer.status).toBe(200);
    return (await answer.json()) as Record<string, unknown> & { items: object[]; next?: string };
  };
  const all = async (path: string) => {
    const items: object[] = [];
    for (let next: string | undefined = ''; next !== undefined; ) {
      const page = await get(`${path}?limit=50${next && `&cursor=${encodeURIComponent(next)}`}`);
      items.push(...page.items);
      next = page.next;
    }
    return items;
  };
  const cairn = async (...words: string[]) => {
    const env = { CAIRN_URL: 'https://runs.test', CAIRN_API_KEY: key };
    const fetch = (url: string | URL | Request, init?: RequestInit) =>
      request(String(url).replace('https://runs.test', ''), init);
    const output = await saying(words, listening({ now: billed.world.clock.now(), fetch, env } as never));
    if (output.code !== 0) throw new Error(`cairn ${words.join(' ')}: ${output.err}`);
    return output.out;
  };
  const at = `/v1/runs/${runId}`;
  const graph = await get(`${at}/graph`);
  // Only the cost differs with pages.
  const { cost: _, ...run } = await get(at);
  return {
    run,
    graph,
    steps: await all(`${at}/steps`),
    events: await all(`${at}/events`),
    checkpoints: await all(`${at}/checkpoints`),
    listed: (await get('/v1/runs')).items.map(({ cost, ...rest }: { cost?: unknown }) => rest),
    inbox: await get('/v1/inbox'),
    shown: (await cairn('runs', 'show', runId)).replace(/^.*\bcost.*$/gim, ''),
    timeline: await cairn('runs', 'events', runId),
    check: await cairn('check', runId),
    console: await consoleOf(graph as unknown as RunGraph, await all(`${at}/events`)),
    cancel: async () => {
      const init = { method: 'POST', body: '{"reason":"enough"}' };
      const headers = { 'content-type': 'application/json' };
      const answer = await request(`${at}/cancel`, { ...init, headers });
      return { status: answer.status, body: await answer.json() };
    },
  };
}

/** State of the console's page of the run after it has read everything. */
async function consoleOf(graph: RunGraph, events: readonly object[]) {
  const follower = new RunFollower({
    readGraph: async () => graph,
    readEvents: async () => ({ items: events as RunEvent[] }),
    follow: (_after, listener) => {
      listener.onState('live');
      return new Promise(() => {});
    },
  });
  const stop = follower.start();
  follower.loadUntil(events.length);
  const shown = await eventually('the whole history', () => {
    const { history } = follower.shown();
    return history.complete ? follower.shown() : undefined;
  });
  stop();
  return { steps: [...shown.steps], histories: [...shown.histories.keys()], head: shown.head };
}

/** From the start to the question, then cancelled until the last compensation. */
async function performed(pages: PageBudget | undefined) {
  const billed = await worlds.make({ workflows: [collecting], ...(pages && { pages }) });
  const runId = await billed.start('collecting');
  const status = async () => (await billed.deps.store.load(runId))?.state.status;
  await billed.run(async () => (await status()) === 'awaiting_approval');
  const asking = await told(billed, runId);
  const cancelled = await asking.cancel();
  await billed.run(async () => (await status()) === 'cancelled');
  const ended = await told(billed, runId);
  const run = billed.db.collection('gwi_runs').doc(runId);
  const pageCount = (await run.collection('pages').count().get()).data().count;
  const { cancel: _, ...whileAsking } = asking;
  const { cancel: __, ...atTheEnd } = ended;
  return { whileAsking, cancelled, atTheEnd, pageCount };
}

test('a run with pages is answered, listed, shown, drawn, checked and cancelled like one without pages', async () => {
  const { pageCount, ...paged } = await performed(TINY);
  const { pageCount: none, ...whole } = await performed(undefined);
  expect(none).toBe(0);
  expect(pageCount).toBeGreaterThan(10);
  expect(paged).toEqual(whole);
  // There is nothing else.
  const { whileAsking, atTheEnd } = paged;
  expect(whileAsking.steps).toHaveLength(ITEMS + 2);
  expect(whileAsking.graph.steps).toHaveLength(ITEMS + 2);
  expect(whileAsking.console.steps).toHaveLength(ITEMS + 2);
  expect(whileAsking.check).toContain('consistent');
  expect(atTheEnd.run).toMatchObject({ status: 'cancelled' });
  expect(atTheEnd.events.filter((event) => 'type' in event && event.type === 'step_compensated').length).toBe(
    UNDONE,
  );
  expect(atTheEnd.check).toContain('consistent');
});
