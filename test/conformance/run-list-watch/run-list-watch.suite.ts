/** Contract of watches of run lists. */

import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { EventDraft, RunIdentity } from '../../../packages/cairn/src/core/run/events.ts';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import { wakeAt } from '../../../packages/cairn/src/core/run/wake.ts';
import { listedState } from '../../../packages/cairn/src/core/search/listed.ts';
import { listedWaits } from '../../../packages/cairn/src/core/search/listing.ts';
import { stepCounts } from '../../../packages/cairn/src/core/search/step-counts.ts';
import type { ListedRun, RunFilter, RunStore } from '../../../packages/cairn/src/ports/run-store.ts';
import type { RetentionStore } from '../../../packages/cairn/src/ports/runs/retention-store.ts';
import type { RunListWatch } from '../../../packages/cairn/src/ports/runs/run-list-watch.ts';
import { Awaited } from '../support/awaited.ts';
import { beginning, claim, move, T0 } from '../support/run-fixture.ts';

export interface WatchedLists {
  readonly runs: RunStore;
  readonly retention: RetentionStore;
  readonly watch: RunListWatch;
  /** Cuts the next streams; absent if the watch has none. */
  readonly cut?: () => void;
}

export interface ListWatchHarness {
  /** An empty store and a watch over it. */
  make(): Promise<WatchedLists>;
  /** Called when every watch was stopped. */
  close(): Promise<void>;
}

/** Notifications of an observer. */
class Told extends Awaited {
  readonly lists: (readonly ListedRun[])[] = [];
  errors: unknown[] = [];

  onRuns(runs: readonly ListedRun[]): void {
    this.lists.push(runs);
    this.look();
  }

  onError(error: unknown): void {
    this.errors.push(error);
    this.look();
  }

  get ids(): string[] | undefined {
    return this.lists.at(-1)?.map(({ state }) => state.id);
  }

  until(what: string, holds: () => boolean): Promise<void> {
    return this.wait(holds, () => `not ${what}: told ${this.ids}, ${this.errors}`);
  }

  untilIds(...ids: readonly string[]): Promise<void> {
    return this.until(ids.join(), () => this.ids?.join() === ids.join());
  }
}

const CANCELLED: EventDraft = { type: 'run_cancelled', data: { stopKind: 'user' }, initiator: 'user' };

export function runListWatchConformance(name: string, harness: ListWatchHarness): void {
  describe(name, () => {
    let stores: WatchedLists;
    let stops: (() => void)[] = [];
    beforeEach(async () => {
      stores = await harness.make();
    });
    afterEach(() => {
      for (const stop of stops) stop();
      stops = [];
    });
    afterAll(() => harness.close());

    function follow(filter: Partial<RunFilter> = {}, limit = 10): Told {
      const observer = new Told();
      stops.push(stores.watch.watchRuns({ tenantId: 'acme', ...filter }, limit, observer));
      return observer;
    }

    async function start(runId: string, at: number, changes: Partial<RunIdentity> = {}): Promise<RunState> {
      const commit = beginning(runId, { at, identity: { rootRunId: runId, ...changes } });
      expect(await stores.runs.start(commit)).toMatchObject({ kind: 'committed' });
      return commit.state;
    }

    async function append(state: RunState, drafts: readonly EventDraft[]): Promise<RunState> {
      const { commit, after } = move(state, drafts, { snapshot: true });
      expect(await stores.runs.commit(commit)).toMatchObject({ kind: 'committed' });
      return after;
    }

    test('reports the existing runs, the newest first, and an empty list as empty', async () => {
      const empty = follow();
      await empty.untilIds();
      await start('run_a', T0);
      const b = await start('run_b', T0 + 1);
      const observer = follow();
      await observer.untilIds('run_b', 'run_a');
      expect(observer.lists).toHaveLength(1);
      expect(observer.lists[0]?.[0]).toEqual({
        state: listedState(b),
        metadata: {},
        stepCounts: stepCounts(b.steps),
        waits: listedWaits(b.waits),
        wakeAt: wakeAt(b),
      });
      await empty.untilIds('run_b', 'run_a');
    });

    test('reports a run that begins, and each change in its snapshot', async () => {
      const observer = follow();
      await observer.untilIds();
      const begun = await start('run_a', T0);
      await observer.untilIds('run_a');
      const claimed = await append(begun, claim(begun, T0 + 1_000));
      await observer.until('claimed', () => observer.lists.at(-1)?.[0]?.state.status === 'running');
      expect(observer.lists.at(-1)?.[0]?.state).toEqual(listedState(claimed));
    });

    test('reports changes of data that is stored outside the journal', async () => {
      await start('run_a', T0);
      const observer = follow();
      await observer.untilIds('run_a');
      const seen = (await stores.runs.load('run_a'))?.snapshotVersion ?? '';
      const leaseExtendedTo = T0 + 5_000;
      await stores.runs.touch({ runId: 'run_a', seen, metadata: { heartbeat: true, leaseExtendedTo } });
      await observer.until(
        'touched',
        () => observer.lists.at(-1)?.[0]?.metadata.leaseExtendedTo === leaseExtendedTo,
      );
    });

    test('shows the requested number of runs, and the next one when a run leaves the list', async () => {
      const states = new Map<string, RunState>();
      for (const [i, id] of ['run_a', 'run_b', 'run_c'].entries()) states.set(id, await start(id, T0 + i));
      const observer = follow({ status: 'pending' }, 2);
      await observer.untilIds('run_c', 'run_b');
      await start('run_d', T0 + 9);
      await observer.untilIds('run_d', 'run_c');
      await append(states.get('run_c') as RunState, [CANCELLED]);
      await observer.untilIds('run_d', 'run_b');
    });

    test.each<Partial<RunFilter>>([
      { type: 'deploy' },
      { repoId: 'acme/app' },
      { threadId: 'th' },
      { tag: 'customer:42' },
      { tag: 'customer:42', type: 'deploy' },
      { status: ['pending', 'running'], type: 'deploy', repoId: 'acme/app', threadId: 'th' },
    ])('applies the filter %j', async (filter) => {
      await start('run_other', T0 + 5);
      const observer = follow(filter);
      await observer.untilIds();
      const wanted = { type: 'deploy', repoId: 'acme/app', threadId: 'th', tags: ['customer:42'] };
      await start('run_none', T0 + 6);
      await start('run_namesake', T0 + 8, { threadId: 'customer:42' });
      await start('run_foreign', T0 + 7, { ...wanted, tenantId: 'other' });
      const run = await start('run_wanted', T0 + 2, wanted);
      await observer.untilIds('run_wanted');
      await append(run, claim(run, T0 + 1_000));
      await observer.until('moved', () => observer.lists.at(-1)?.[0]?.state.status === 'running');
      expect(observer.lists.flat().every(({ state }) => state.id === 'run_wanted')).toBe(true);
    });

    test('reports how runs were stopped, if the filter requests it', async () => {
      const observer = follow({ status: 'cancelled', stopKind: ['halt'] });
      const [a, b] = [await start('run_a', T0), await start('run_b', T0 + 1)];
      await append(a, [CANCELLED]);
      await append(b, [{ ...CANCELLED, data: { stopKind: 'halt' } } as EventDraft]);
      await observer.untilIds('run_b');
    });

    test('omits a run that is marked for deletion, and shows it again when the mark is removed', async () => {
      await start('run_a', T0);
      await start('run_b', T0 + 1);
      const observer = follow();
      await observer.untilIds('run_b', 'run_a');
      const version = async () => (await stores.runs.load('run_b'))?.snapshotVersion ?? '';
      await stores.retention.mark('run_b', await version(), T0 + 9);
      await observer.untilIds('run_a');
      await stores.retention.mark('run_b', await version(), undefined);
      await observer.untilIds('run_b', 'run_a');
      await stores.retention.deleteRun('run_b', await version());
      await observer.untilIds('run_a');
    });

    test('misses nothing when its connection breaks off', async () => {
      stores.cut?.();
      const observer = follow({}, 3);
      for (let i = 0; i < 8; i += 1) await start(`run_${i}`, T0 + i);
      await observer.untilIds('run_7', 'run_6', 'run_5');
      expect(observer.errors).toEqual([]);
    });

    test('reports nothing after it was stopped, while another continues', async () => {
      const stopped = follow();
      const other = follow();
      await Promise.all([stopped.untilIds(), other.untilIds()]);
      for (const stop of stops.splice(0, 1)) stop();
      await start('run_a', T0);
      await other.untilIds('run_a');
      expect([stopped.lists, stopped.errors]).toEqual([[[]], []]);
    });
  });
}
