/** Contract of run watches. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { segmentId } from '../../../packages/cairn/src/core/logs/segment.ts';
import type { EventDraft, RunEvent } from '../../../packages/cairn/src/core/run/events.ts';
import type { LoadedRun, RunStore } from '../../../packages/cairn/src/ports/run-store.ts';
import type { RunEnd, RunWatch } from '../../../packages/cairn/src/ports/runs/run-watch.ts';
import { Awaited } from '../support/awaited.ts';
import { beginning, claim, move, T0 } from '../support/run-fixture.ts';

export interface Watched {
  readonly runs: RunStore;
  readonly watch: RunWatch;
  /** Cuts the next streams; absent if the watch has none. */
  readonly cut?: () => void;
}

export interface WatchHarness {
  /** An empty store and a watch over it. */
  make(): Promise<Watched>;
  /** Called when every watch was stopped. */
  close(): Promise<void>;
}

/** Notifications of an observer, in order. */
class Told extends Awaited {
  readonly events: RunEvent[] = [];
  errors = 0;

  onEvents(events: readonly RunEvent[]): void {
    this.events.push(...events);
    this.look();
  }

  onError(): void {
    this.errors += 1;
    this.look();
  }

  get seqs(): number[] {
    return this.events.map(({ seq }) => seq);
  }

  until(seq: number): Promise<void> {
    return this.wait(
      () => this.seqs.includes(seq),
      () => `told ${this.seqs}, not ${seq}`,
    );
  }
}

class Ended extends Awaited {
  readonly found: (string | undefined)[] = [];
  readonly runs: (LoadedRun | undefined)[] = [];
  errors = 0;

  get ends(): number {
    return this.runs.length;
  }

  onFound(run: { readonly tenantId: string } | undefined): void {
    this.found.push(run?.tenantId);
    this.look();
  }

  onEnd(run: LoadedRun | undefined): void {
    this.runs.push(run);
    this.look();
  }

  whetherThere(): Promise<void> {
    return this.wait(
      () => this.found.length > 0,
      () => 'not told whether it is there',
    );
  }

  onError(): void {
    this.errors += 1;
    this.look();
  }

  end(): Promise<void> {
    return this.wait(
      () => this.ends > 0,
      () => 'not told of the end',
    );
  }
}

class Logged extends Awaited {
  readonly told: (RunEnd | undefined)[] = [];
  errors = 0;

  onLogs(ended: RunEnd | undefined): void {
    this.told.push(ended);
    this.look();
  }

  onError(): void {
    this.errors += 1;
    this.look();
  }

  times(count: number): Promise<void> {
    return this.wait(
      () => this.told.length >= count,
      () => `told ${this.told.length} times, not ${count}`,
    );
  }

  end(): Promise<void> {
    return this.wait(
      () => this.told.at(-1) !== undefined,
      () => 'not told of the end',
    );
  }
}

export function runWatchConformance(name: string, harness: WatchHarness): void {
  describe(name, () => {
    let stores: Watched;
    let stops: (() => void)[] = [];
    beforeEach(async () => {
      stores = await harness.make();
    });
    afterEach(() => {
      for (const stop of stops) stop();
      stops = [];
    });
    afterAll(() => harness.close());

    function follow(runId: string, afterSeq: number): Told {
      const observer = new Told();
      stops.push(stores.watch.watch(runId, afterSeq, observer));
      return observer;
    }

    function awaitEnd(runId: string): Ended {
      const observer = new Ended();
      stops.push(stores.watch.watchEnd(runId, observer));
      return observer;
    }

    function watchLogs(runId: string): Logged {
      const observer = new Logged();
      stops.push(stores.watch.watchLogs(runId, observer));
      return observer;
    }

    async function log(runId: string, number: number): Promise<void> {
      const loaded = await stores.runs.load(runId);
      if (!loaded) throw new Error(`run ${runId} is not there`);
      const line = { kind: 'log', at: T0, level: 'info', step: 'a', revision: 1, attempt: 1 } as const;
      const logged = {
        segment: { id: segmentId(1, number), lines: [{ ...line, message: `line ${number}` }] },
        totals: { lines: number, bytes: 100 * number, dropped: 0 },
      };
      const { snapshotVersion: seen } = loaded;
      const touched = await stores.runs.touch({ runId, seen, metadata: { heartbeat: true, logged } });
      expect(touched).toMatchObject({ kind: 'touched' });
    }

    async function start(runId: string): Promise<void> {
      expect(await stores.runs.start(beginning(runId))).toMatchObject({ kind: 'committed' });
    }

    async function append(runId: string, drafts: readonly EventDraft[]): Promise<number> {
      const loaded = await stores.runs.load(runId);
      if (!loaded) throw new Error(`run ${runId} is not there`);
      const { commit, after } = move(loaded.state, drafts, { snapshot: true });
      expect(await stores.runs.commit(commit)).toMatchObject({ kind: 'committed' });
      return after.head;
    }

    const ended: EventDraft = {
      type: 'run_completed',
      data: { result: { text: '1' } },
      initiator: 'system',
    };
    const signal: EventDraft = {
      type: 'signal_received',
      data: { signalId: 's', name: 'note', payloadText: '{}' },
      initiator: 'user',
    };

    async function claimed(runId: string): Promise<number> {
      await start(runId);
      const loaded = await stores.runs.load(runId);
      if (!loaded) throw new Error(`run ${runId} is not there`);
      return append(runId, claim(loaded.state, T0 + 1_000));
    }

    test('reports existing and then new events, each as in the journal', async () => {
      const head = await claimed('run_1');
      const observer = follow('run_1', 0);
      await observer.until(head);
      for (let i = 0; i < 8; i += 1) await append('run_1', [signal]);
      await observer.until(head + 8);
      expect(observer.seqs).toEqual(Array.from({ length: head + 8 }, (_, i) => i + 1));
      expect(observer.events).toEqual(await stores.runs.readEvents('run_1', 0, 100));
    });

    test('reports no events up to the sequence number after which it begins', async () => {
      const head = await claimed('run_1');
      const observer = follow('run_1', head);
      await append('run_1', [signal, signal]);
      await observer.until(head + 2);
      expect(observer.seqs).toEqual([head + 1, head + 2]);
    });

    test('reports a run that begins later from its first event', async () => {
      const observer = follow('run_1', 0);
      await start('run_1');
      await observer.until(1);
      expect(observer.events.map(({ type }) => type)).toEqual(['run_created']);
    });

    test('reports nothing of other runs', async () => {
      await start('run_1');
      const observer = follow('run_1', 0);
      await claimed('run_2');
      await append('run_1', [signal]);
      await observer.until(2);
      expect(observer.seqs).toEqual([1, 2]);
    });

    test('misses nothing when its connection breaks off', async () => {
      stores.cut?.();
      const head = await claimed('run_1');
      const observer = follow('run_1', 0);
      for (let i = 0; i < 12; i += 1) await append('run_1', [signal]);
      await observer.until(head + 12);
      expect([...new Set(observer.seqs)]).toEqual(Array.from({ length: head + 12 }, (_, i) => i + 1));
    });

    test('reports the end of a run once, before or during the watch', async () => {
      await claimed('run_1');
      await claimed('run_2');
      const early = awaitEnd('run_1');
      const other = awaitEnd('run_2');
      await append('run_1', [signal]);
      expect(early.ends).toBe(0);
      await append('run_1', [ended]);
      await early.end();
      await awaitEnd('run_1').end();
      expect([early.ends, early.errors, other.ends, other.errors]).toEqual([1, 0, 0, 0]);
    });

    test('reports first whether the run exists, and then the run at its end', async () => {
      await claimed('run_1');
      const early = awaitEnd('run_1');
      const none = awaitEnd('run_none');
      await Promise.all([early.whetherThere(), none.whetherThere()]);
      await append('run_1', [ended]);
      await early.end();
      const late = awaitEnd('run_1');
      await late.end();
      const loaded = await stores.runs.load('run_1');
      if (!loaded) throw new Error('run_1 is not there');
      const { tenantId } = loaded.state;
      expect([early.found, none.found, late.found]).toEqual([[tenantId], [undefined], [tenantId]]);
      const { readAt: _, ...wanted } = loaded;
      for (const { runs } of [early, late]) expect(runs).toEqual([expect.objectContaining(wanted)]);
    });

    test('reports new lines in the log of a run, and that the log is complete when the run has ended', async () => {
      await claimed('run_1');
      const early = watchLogs('run_1');
      await early.times(1);
      for (let number = 1; number <= 3; number += 1) {
        const before = early.told.length;
        await log('run_1', number);
        await early.times(before + 1);
      }
      expect(early.told).not.toContainEqual(expect.anything());
      await append('run_1', [ended]);
      const late = watchLogs('run_1');
      const end = { status: 'completed', stopKind: undefined };
      for (const one of [early, late]) {
        await one.end();
        expect(one.told.at(-1)).toEqual(end);
        expect(one.errors).toBe(0);
      }
    });

    test('reports nothing to a stopped observer, while another continues', async () => {
      const head = await claimed('run_1');
      const stopped = follow('run_1', 0);
      const other = follow('run_1', 0);
      await Promise.all([stopped.until(head), other.until(head)]);
      for (const stop of stops.splice(0, 1)) stop();
      await append('run_1', [signal]);
      await other.until(head + 1);
      expect(stopped.seqs).not.toContain(head + 1);
      expect([stopped.errors, other.errors]).toEqual([0, 0]);
    });
  });
}
