import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { RunEvent } from '../../packages/cairn/src/core/run/events.ts';
import type { RunStatus } from '../../packages/cairn/src/core/run/status.ts';
import { type FollowedRun, followRun } from '../../packages/cairn/src/operations/follow/follow-run.ts';
import type { RunObserver } from '../../packages/cairn/src/ports/runs/run-watch.ts';
import { settle, VirtualClock } from '../support/virtual-clock.ts';

const QUIET_MS = 1_000;

function event(seq: number, type: RunEvent['type'] = 'signal_received'): RunEvent {
  return { seq, type, data: {} } as RunEvent;
}

/** A journal, and a watch whose reports the test decides. */
class Scene {
  readonly journal: RunEvent[] = [];
  readonly clock = new VirtualClock();
  readonly gone = new AbortController();
  readonly told: FollowedRun[] = [];
  observer: RunObserver | undefined;
  stopped = 0;
  reads = 0;
  readonly store = {
    readEvents: async (_runId: string, after: number, limit: number) => {
      this.reads += 1;
      return this.journal.slice(after, after + limit);
    },
  };
  readonly watch = {
    watch: (_runId: string, _after: number, observer: RunObserver) => {
      this.observer = observer;
      return () => {
        this.stopped += 1;
      };
    },
  };

  append(count: number, type?: RunEvent['type']): void {
    for (let i = 0; i < count; i += 1) this.journal.push(event(this.journal.length + 1, type));
  }

  async follow(after: number, untilMs = 60_000, status: RunStatus = 'running'): Promise<void> {
    const following = {
      runId: 'run_1',
      after,
      status,
      quietMs: QUIET_MS,
      until: this.clock.now() + untilMs,
      signal: this.gone.signal,
    };
    for await (const one of followRun(this, following)) this.told.push(one);
  }

  get seqs(): number[] {
    return this.told.flatMap((one) => (one.kind === 'event' ? [one.event.seq] : []));
  }
}

const from1 = (length: number) => Array.from({ length }, (_, i) => i + 1);

describe('a follower of a run', () => {
  test('receives each event once and in order, whatever the watch repeats, skips or reorders', async () => {
    const steps = fc.array(fc.record({ grows: fc.nat(5), tells: fc.array(fc.nat(40), { maxLength: 6 }) }), {
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(3), async (moves, before) => {
        const scene = new Scene();
        scene.append(3);
        const done = scene.follow(before);
        await settle();
        for (const { grows, tells } of moves) {
          scene.append(grows);
          const known = tells.map((i) => scene.journal[i]).filter((e) => e !== undefined);
          scene.observer?.onEvents(known);
          await settle();
        }
        scene.append(1, 'run_completed');
        scene.observer?.onEvents([scene.journal.at(-1) as RunEvent]);
        await done;
        expect(scene.seqs).toEqual(from1(scene.journal.length).slice(before));
        expect(scene.told.at(-1)).toEqual({ kind: 'ended', status: 'completed' });
        expect(scene.stopped).toBe(1);
      }),
      { numRuns: 150 },
    );
  });

  test('needs no read of the journal while the watch delivers everything', async () => {
    const scene = new Scene();
    scene.append(1);
    const done = scene.follow(0);
    await settle();
    expect(scene.reads).toBe(1);
    for (let i = 0; i < 5; i += 1) {
      scene.append(1);
      scene.observer?.onEvents(scene.journal.slice(-1));
      await settle();
    }
    scene.append(1, 'run_failed');
    scene.observer?.onEvents(scene.journal.slice(-1));
    await done;
    expect([scene.reads, scene.seqs.length]).toEqual([1, 7]);
  });

  test('reads from the journal what arrives faster than it is consumed', async () => {
    const scene = new Scene();
    const done = scene.follow(0);
    await settle();
    scene.append(450);
    for (const one of scene.journal) scene.observer?.onEvents([one]);
    scene.append(1, 'run_cancelled');
    scene.observer?.onEvents(scene.journal.slice(-1));
    await done;
    expect(scene.seqs).toEqual(from1(451));
  });

  test('receives the rest of an ended run without a watch', async () => {
    const scene = new Scene();
    scene.append(230);
    scene.append(1, 'run_failed');
    scene.append(1, 'run_superseded');
    await scene.follow(200);
    expect(scene.seqs).toEqual(from1(232).slice(200));
    expect(scene.told.at(-1)).toEqual({ kind: 'ended', status: 'failed' });
    expect(scene.observer).toBeUndefined();
  });

  test('stops without `ended` when its time is up or it is aborted', async () => {
    const timed = new Scene();
    const done = timed.follow(0, QUIET_MS / 2);
    await settle();
    timed.clock.fireNext();
    await done;
    const scene = new Scene();
    const left = scene.follow(0);
    await settle();
    scene.gone.abort();
    await left;
    expect([timed.told, scene.told, timed.stopped, scene.stopped]).toEqual([[], [], 1, 1]);
  });

  test('is not told of the end while events are left, because the instance shuts down', async () => {
    const scene = new Scene();
    scene.append(230);
    scene.append(1, 'run_failed');
    scene.gone.abort();
    await scene.follow(0, 60_000, 'failed');
    expect(scene.told).toHaveLength(100);
    expect(scene.told.at(-1)).toMatchObject({ kind: 'event', event: { seq: 100 } });
  });

  test('receives the failure of the watch after the events before it', async () => {
    const scene = new Scene();
    const done = scene.follow(0);
    await settle();
    scene.append(1);
    scene.observer?.onEvents(scene.journal);
    scene.observer?.onError(new Error('the stream is gone'));
    await expect(done).rejects.toThrow('the stream is gone');
    expect(scene.seqs).toEqual([1]);
    expect(scene.stopped).toBe(1);
  });
});
