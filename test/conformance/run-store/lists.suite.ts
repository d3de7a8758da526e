/** Contract of run stores: lists, scans and reads by sequence number. */

import { beforeEach, describe, expect, test } from '@jest/globals';
import type { RunIdentity } from '../../../packages/cairn/src/core/run/events.ts';
import { checkpointOf } from '../../../packages/cairn/src/core/run/records.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import { listedState } from '../../../packages/cairn/src/core/search/listed.ts';
import { matchOf } from '../../../packages/cairn/src/core/search/match.ts';
import { entriesFor, INDEXED } from '../../../packages/cairn/src/core/search/match-index.ts';
import type { Page, PageRequest, RunFilter, RunStore } from '../../../packages/cairn/src/ports/run-store.ts';
import { opened, questionOf, waitOf } from '../../core/run/journal-drafts.ts';
import type { Stores } from '../support/harness.ts';
import { beginning, claim, move, release, succeeded, T0 } from '../support/run-fixture.ts';

/** More pages than any list of these tests has; ends the loop if a cursor does not advance. */
const MAX_PAGES = 50;

export function listClaims(current: () => Stores): void {
  let runs: RunStore;
  beforeEach(() => {
    runs = current().runs;
  });

  async function start(runId: string, at: number, identity: Partial<RunIdentity> = {}): Promise<RunState> {
    const commit = beginning(runId, { at, identity });
    expect(await runs.start(commit)).toMatchObject({ kind: 'committed' });
    return commit.state;
  }

  /** A claimed run with the named steps finished, all in its journal and none in its snapshot. */
  async function driven(runId: string, stepIds: readonly string[]): Promise<RunState> {
    const state = await start(runId, T0);
    const held = move(state, claim(state, T0 + 300_000), { snapshot: true });
    await runs.commit(held.commit);
    const done = move(
      held.after,
      stepIds.map((id) => succeeded(id, { outputText: JSON.stringify(id) })),
    );
    await runs.commit(done.commit);
    return done.after;
  }

  describe('the list of runs', () => {
    const list = (filter: Omit<RunFilter, 'tenantId'>, tenantId = 'acme', limit = 2) =>
      all((page) => runs.listRuns({ tenantId, ...filter }, page), limit).then((found) =>
        found.map(({ state }) => state.id),
      );

    test('can be limited to a time of creation, alone and with other filters', async () => {
      for (const at of [1, 2, 3, 4])
        await start(`run_${at}`, T0 + at, { type: at === 3 ? 'deploy' : 'echo' });
      expect(await list({ createdFrom: T0 + 2 })).toEqual(['run_4', 'run_3', 'run_2']);
      expect(await list({ createdBefore: T0 + 2 })).toEqual(['run_1']);
      const middle = { createdFrom: T0 + 2, createdBefore: T0 + 4 };
      expect(await list(middle)).toEqual(['run_3', 'run_2']);
      expect(await list({ ...middle, type: 'deploy' })).toEqual(['run_3']);
      expect(await list({ ...middle, status: ['pending', 'failed', 'awaiting_approval'] })).toEqual([
        'run_3',
        'run_2',
      ]);
    });

    test('has the runs of one tenant, the newest first, and is complete over its pages', async () => {
      const states = [
        await start('run_b', T0 + 1),
        await start('run_a', T0 + 1),
        await start('run_old', T0),
        await start('run_new', T0 + 2),
        await start('run_c', T0 + 1),
      ];
      await start('run_foreign', T0 + 1, { tenantId: 'other' });
      expect(await list({})).toEqual(['run_new', 'run_c', 'run_b', 'run_a', 'run_old']);
      expect(await list({}, 'other')).toEqual(['run_foreign']);
      const { items } = await runs.listRuns({ tenantId: 'acme' }, { limit: 10 });
      expect(items.find(({ state }) => state.id === 'run_b')?.state).toEqual(
        states[0] && listedState(states[0]),
      );
    });

    test('of top-level runs omits child runs, however many lie between, and is complete over its pages', async () => {
      const parent = { runId: 'run_old', stepId: 'ask' };
      await start('run_old', T0);
      for (let i = 0; i < 30; i += 1) await start(`run_child_${i}`, T0 + 1 + i, { parent });
      await start('run_new', T0 + 100);
      const both = await runs.listRuns({ tenantId: 'acme', topLevel: true }, { limit: 2 });
      expect(both.items.map(({ state }) => state.id)).toEqual(['run_new', 'run_old']);
      expect(both).not.toHaveProperty('next');
      expect(await list({ topLevel: true })).toEqual(['run_new', 'run_old']);
      expect(await list({})).toHaveLength(32);
    });

    test('of matching runs omits the others, however many lie between, and is complete over its pages', async () => {
      await start('run_old', T0, { tags: ['amount:200'] });
      for (let i = 0; i < 30; i += 1) await start(`run_small_${i}`, T0 + 1 + i, { tags: ['amount:9'] });
      await start('run_new', T0 + 100, { tags: ['amount:1000', 'customer:Ada'] });
      const match = matchOf('amount>100');
      const both = await runs.listRuns({ tenantId: 'acme', match }, { limit: 2 });
      expect(both.items.map(({ state }) => state.id)).toEqual(['run_new', 'run_old']);
      expect(both).not.toHaveProperty('next');
      expect(await list({ match })).toEqual(['run_new', 'run_old']);
      expect(await list({ match: matchOf('ada') })).toEqual(['run_new']);
      expect(await list({ match: matchOf('run_small_7*'), createdFrom: T0 })).toEqual(['run_small_7']);
      expect(await list({ match, topLevel: true, status: 'completed' })).toEqual([]);
    });

    test('by the index of matches has exactly those found by reading all of them, in pages, with other filters', async () => {
      const values = [
        -250,
        -0.5,
        0,
        0.01,
        1,
        99,
        99.99,
        100,
        100.01,
        101,
        4_095,
        1e6,
        1e6 + 1,
        1.7e12,
        1e300,
      ];
      for (const [i, value] of values.entries())
        await start(`run_${i}`, T0 + i, {
          tags: [`amount:${value}`, `other:${-value}`, 'customer:100'],
          type: i % 2 === 0 ? 'deploy' : 'echo',
        });
      await start('run_none', T0 + 100, { tags: ['amount:many'] });
      await start('run_foreign', T0 + 100, { tenantId: 'other', tags: ['amount:1000'] });
      const few = { status: ['pending', 'running', 'awaiting_approval'], type: 'deploy' } as const;
      for (const value of [-0.5, 0, 99.99, 100, 4_095, 1e6, 1.7e12])
        for (const text of [`amount>${value}`, `amount<=${value}`]) {
          const match = matchOf(text);
          const expected = await list({ match }, 'acme', 9);
          expect(await list({ match, among: entriesFor(match, 30) ?? [] }, 'acme', 9)).toEqual(expected);
          const some = await list({ match, ...few });
          expect(await list({ match, ...few, among: entriesFor(match, 7) ?? [] })).toEqual(some);
        }
      const among = entriesFor(matchOf('amount>=1000000'), 30) ?? [];
      expect(await list({ among })).toEqual(['run_14', 'run_13', 'run_12', 'run_11']);
      expect(await list({ among, createdFrom: T0 + 12, createdBefore: T0 + 14 })).toEqual([
        'run_13',
        'run_12',
      ]);
      expect(await list({ among: [INDEXED] }, 'other')).toEqual(['run_foreign']);
    });

    test('by status includes live runs that have the status by their waits, and not those that have ended', async () => {
      const asks = await start('run_asks', T0 + 3);
      const waits = await start('run_waits', T0 + 2);
      await start('run_pending', T0 + 1);
      const question = opened(questionOf('gate', { id: 'gate.1' }));
      const asking = move(asks, [...claim(asks, T0 + 300_000), question], { snapshot: true });
      const timer = opened(waitOf('nap', T0 + 9_000));
      const waiting = move(waits, [...claim(waits, T0 + 300_000), timer], { snapshot: true });
      await runs.commit(asking.commit);
      await runs.commit(waiting.commit);
      expect(await list({ status: 'running' })).toEqual(['run_asks', 'run_waits']);
      expect(await list({ status: 'awaiting_approval' })).toEqual(['run_asks']);
      expect(await list({ status: 'running', waitsFor: 'awaiting_approval' })).toEqual(['run_asks']);
      expect(await list({ status: 'waiting_external', type: asks.type })).toEqual(['run_waits']);
      expect(await list({ status: ['awaiting_approval', 'pending'] })).toEqual(['run_asks', 'run_pending']);
      const answer = { waitId: 'gate.1', decision: 'approve' as const, payloadText: '{}' };
      const answered = move(asking.after, [{ type: 'wait_resolved', initiator: 'approval', data: answer }], {
        snapshot: true,
      });
      await runs.commit(answered.commit);
      expect(await list({ status: 'awaiting_approval' })).toEqual([]);
    });

    test('has the running bodies that a heartbeat named', async () => {
      const { id } = await driven('run_1', ['before']);
      const { snapshotVersion } = (await runs.load(id)) ?? {};
      const running = [{ step: 'a', revision: 1, attempt: 2, since: T0 }];
      const metadata = { heartbeat: true, running };
      await runs.touch({ runId: id, seen: snapshotVersion ?? '', metadata });
      expect((await runs.load(id))?.metadata.running).toEqual(running);
      const { items } = await runs.listRuns({ tenantId: 'acme' }, { limit: 1 });
      expect(items[0]?.metadata.running).toEqual(running);
    });

    test('keeps its position when runs are added between two pages', async () => {
      for (let i = 0; i < 4; i += 1) await start(`run_${i}`, T0 + i);
      const first = await runs.listRuns({ tenantId: 'acme' }, { limit: 2 });
      await start('run_9', T0 + 9);
      const second = await runs.listRuns({ tenantId: 'acme' }, { limit: 2, ...cursorOf(first) });
      expect([...first.items, ...second.items].map(({ state }) => state.id)).toEqual([
        'run_3',
        'run_2',
        'run_1',
        'run_0',
      ]);
      expect(second).not.toHaveProperty('next');
    });

    test('applies every filter, alone and in combination', async () => {
      const wanted = { type: 'deploy', repoId: 'acme/app', threadId: 'th' };
      const only = <K extends keyof typeof wanted>(key: K) => ({ [key]: wanted[key] });
      await start('run_all', T0 + 9, wanted);
      await start('run_type', T0 + 8, only('type'));
      await start('run_repo', T0 + 7, only('repoId'));
      await start('run_thread', T0 + 6, only('threadId'));
      await start('run_tagged', T0 + 4, { type: 'deploy', tags: ['customer:42', 'large:true'] });
      await start('run_other', T0 + 3, { tags: ['customer:43'] });
      await start('run_namesake', T0 + 2, { threadId: 'customer:42' });
      const cancelled = await start('run_cancelled', T0 + 5, wanted);
      const { commit } = move(
        cancelled,
        [{ type: 'run_cancelled', data: { stopKind: 'user' }, initiator: 'user' }],
        { at: T0 + 5, snapshot: true },
      );
      await runs.commit(commit);

      expect(await list({ type: 'deploy' })).toEqual(['run_all', 'run_type', 'run_cancelled', 'run_tagged']);
      expect(await list({ tag: 'customer:42' })).toEqual(['run_tagged']);
      expect(await list({ tag: 'large:true', type: 'deploy', status: 'pending' })).toEqual(['run_tagged']);
      expect(await list({ tag: 'large:true', status: ['failed', 'pending'] })).toEqual(['run_tagged']);
      expect(await list({ tag: 'customer:43', type: 'deploy' })).toEqual([]);
      expect(await list({ repoId: 'acme/app' })).toEqual(['run_all', 'run_repo', 'run_cancelled']);
      expect(await list({ threadId: 'th' })).toEqual(['run_all', 'run_thread', 'run_cancelled']);
      expect(await list({ status: 'cancelled' })).toEqual(['run_cancelled']);
      expect(await list({ status: 'pending', repoId: 'acme/app' })).toEqual(['run_all', 'run_repo']);
      expect(await list({ ...wanted, status: 'pending' })).toEqual(['run_all']);
      expect(await list({ ...wanted, status: 'failed' })).toEqual([]);
    });
  });

  test('the list of runs accepts several statuses, and how runs were stopped', async () => {
    const cancel = async (runId: string, at: number, stopKind: 'user' | 'halt') => {
      const state = await start(runId, at, { repoId: 'acme/app' });
      const end = { type: 'run_cancelled', data: { stopKind }, initiator: 'user' } as const;
      await runs.commit(move(state, [end], { at, snapshot: true }).commit);
    };
    await start('run_pending', T0 + 4);
    await cancel('run_halted', T0 + 3, 'halt');
    await cancel('run_stopped', T0 + 2, 'user');
    const claimed = await start('run_running', T0 + 1);
    await runs.commit(move(claimed, claim(claimed, T0 + 300_000), { snapshot: true }).commit);
    await start('run_foreign', T0 + 1, { tenantId: 'other' });

    const list = (filter: Omit<RunFilter, 'tenantId'>) =>
      all((page) => runs.listRuns({ tenantId: 'acme', ...filter }, page), 1).then((found) =>
        found.map(({ state }) => state.id),
      );
    expect(await list({ status: ['running', 'pending'] })).toEqual(['run_pending', 'run_running']);
    expect(await list({ status: ['pending', 'cancelled'], repoId: 'acme/app' })).toEqual([
      'run_halted',
      'run_stopped',
    ]);
    expect(await list({ status: 'cancelled', stopKind: ['halt'] })).toEqual(['run_halted']);
    expect(await list({ status: 'cancelled', stopKind: ['user', 'system', 'policy'] })).toEqual([
      'run_stopped',
    ]);
    expect(await list({ status: 'cancelled', stopKind: ['halt', 'user'], repoId: 'acme/app' })).toEqual([
      'run_halted',
      'run_stopped',
    ]);
    expect(await list({ status: ['failed', 'completed'] })).toEqual([]);
  });

  describe('the lists under a run', () => {
    test('have events and checkpoints in sequence, steps by id, and are complete over their pages', async () => {
      const ids = ['b', 'a', 'c[x y]', 'c[/]', 'd'];
      const state = await driven('run_1', ids);
      const events = await all((page) => runs.listEvents('run_1', page), 3);
      expect(events).toEqual(await runs.readEvents('run_1', 0, 99));
      expect(events).toHaveLength(state.head);

      const checkpoints = await all((page) => runs.listCheckpoints('run_1', page), 2);
      expect(checkpoints.map(({ seq }) => seq)).toEqual([3, 4, 5, 6, 7, 8]);
      expect(checkpoints.map(({ outputText }) => outputText)).toEqual([
        undefined,
        '"b"',
        '"a"',
        '"c[x y]"',
        '"c[/]"',
        '"d"',
      ]);

      const steps = await all((page) => runs.listSteps('run_1', page), 2);
      expect(new Set(steps.map(({ id }) => id))).toEqual(new Set(ids));
      expect(steps.map(({ id }) => id).filter((id) => id.length === 1)).toEqual(['a', 'b', 'd']);
    });

    test('of a missing run are empty', async () => {
      expect(await runs.listEvents('run_none', { limit: 3 })).toEqual({ items: [] });
      expect(await runs.listSteps('run_none', { limit: 3 })).toEqual({ items: [] });
      expect(await runs.listCheckpoints('run_none', { limit: 3 })).toEqual({ items: [] });
    });

    test('have nothing of another run', async () => {
      await driven('run_1', ['a']);
      await driven('run_2', ['b', 'c']);
      expect((await runs.listSteps('run_1', { limit: 9 })).items.map(({ id }) => id)).toEqual(['a']);
      expect((await runs.listEvents('run_1', { limit: 9 })).items).toHaveLength(4);
      expect((await runs.listCheckpoints('run_1', { limit: 9 })).items).toHaveLength(2);
    });
  });

  describe('cursors', () => {
    test('that did not come from a page of the list are invalid input', async () => {
      await driven('run_1', ['a', 'b', 'c']);
      const foreign = (await runs.listEvents('run_1', { limit: 1 })).next ?? '';
      const forged = [
        '',
        'x',
        '%%',
        text('null'),
        text('["runs",1]'),
        text('["runs",-1,"a"]'),
        text('["runs",1e300,"a"]'),
        text('["runs",1,"a/b"]'),
        text('["steps",0,".."]'),
        text('["runs",1,"a",2]'),
      ];
      for (const cursor of [foreign, ...forged]) {
        const invalid = { code: 'INVALID_INPUT', field: 'cursor' };
        await expect(runs.listRuns({ tenantId: 'acme' }, { limit: 1, cursor })).rejects.toMatchObject(
          invalid,
        );
        await expect(runs.listSteps('run_1', { limit: 1, cursor })).rejects.toMatchObject(invalid);
        if (cursor === foreign) continue;
        await expect(runs.listEvents('run_1', { limit: 1, cursor })).rejects.toMatchObject(invalid);
      }
      await expect(runs.listCheckpoints('run_1', { limit: 1, cursor: foreign })).rejects.toMatchObject({
        field: 'cursor',
      });
    });
  });

  describe('checkpoints by seq', () => {
    test('are returned in the requested order, even more than one request holds', async () => {
      const state = await driven(
        'run_1',
        Array.from({ length: 90 }, (_, i) => `s${i}`),
      );
      const more = move(state, [...Array.from({ length: 60 }, (_, i) => succeeded(`t${i}`)), release()], {
        snapshot: true,
      });
      await runs.commit(more.commit);
      const seqs = Array.from({ length: 150 }, (_, i) => 153 - i);
      expect((await runs.readCheckpoints('run_1', seqs)).map(({ seq }) => seq)).toEqual(seqs);
      expect(await runs.readCheckpoints('run_1', [5])).toEqual(
        (await runs.listCheckpoints('run_1', { limit: 200 })).items.filter(({ seq }) => seq === 5),
      );
      expect(await runs.readCheckpoints('run_1', [])).toEqual([]);
    });

    test('that are missing are an error that names them', async () => {
      await driven('run_1', ['a']);
      await expect(runs.readCheckpoints('run_1', [4, 9])).rejects.toThrow(/run_1 has no checkpoint 9/);
      await expect(runs.readCheckpoints('run_none', [4])).rejects.toThrow(/run_none has no checkpoint 4/);
    });

    test('are found one by one where they may be absent', async () => {
      const { head } = await driven('run_1', ['a']);
      expect(await runs.findCheckpoint('run_1', head)).toEqual(
        (await runs.readCheckpoints('run_1', [head]))[0],
      );
      expect(await runs.findCheckpoint('run_1', head + 1)).toBeUndefined();
      expect(await runs.findCheckpoint('run_none', head)).toBeUndefined();
    });

    test('are never overwritten', async () => {
      const state = await driven('run_1', ['a']);
      const next = move(state, [succeeded('b')]);
      const first = await runs.readCheckpoints('run_1', [state.head]);
      const event = next.commit.events[0];
      const usurper = event && checkpointOf(event, state, { outputText: '"other"' });
      if (!usurper) throw new Error('no checkpoint');
      const clash = { ...next.commit, checkpoints: [{ ...usurper, seq: state.head }] };
      expect(await runs.commit(clash)).toEqual({ kind: 'exists' });
      expect(await runs.readCheckpoints('run_1', [state.head])).toEqual(first);
      expect((await runs.load('run_1'))?.state.head).toBe(state.head);
    });
  });
}

/** Every item of a list, page by page; each page but the last must be full. */
async function all<T>(read: (page: PageRequest) => Promise<Page<T>>, limit: number): Promise<T[]> {
  const items: T[] = [];
  let page: Page<T> = await read({ limit });
  for (let pages = 1; ; pages += 1) {
    if (pages > MAX_PAGES) throw new Error('the list has no end');
    items.push(...page.items);
    if (page.next === undefined) return items;
    expect(page.items).toHaveLength(limit);
    page = await read({ limit, cursor: page.next });
  }
}

function cursorOf(page: Page<unknown>): { cursor: string } {
  if (page.next === undefined) throw new Error('the list has no next page');
  return { cursor: page.next };
}

function text(json: string): string {
  return Buffer.from(json).toString('base64url');
}
