import { describe, expect, test } from '@jest/globals';
import type { LogSegment } from '../../packages/cairn/src/core/logs/segment.ts';
import { segmentId } from '../../packages/cairn/src/core/logs/segment.ts';
import type { StoredLine } from '../../packages/cairn/src/core/logs/text.ts';
import type { RunStatus } from '../../packages/cairn/src/core/run/status.ts';
import { followLogs, type LogStreamItem } from '../../packages/cairn/src/operations/follow/follow-logs.ts';
import type { LogObserver } from '../../packages/cairn/src/ports/runs/run-watch.ts';
import { settle, VirtualClock } from '../support/virtual-clock.ts';

const LINE = { kind: 'log', at: 0, level: 'info', message: 'm', step: 'a', revision: 1, attempt: 1 };
const SEGMENTS: readonly LogSegment[] = Array.from({ length: 25 }, (_, i) => ({
  id: segmentId(1, i + 1),
  lines: [LINE as StoredLine],
}));

class Scene {
  readonly clock = new VirtualClock();
  readonly gone = new AbortController();
  readonly told: LogStreamItem[] = [];
  observer: LogObserver | undefined;
  readonly logs = {
    readLogs: async (_runId: string, from = '', limit: number) =>
      SEGMENTS.filter(({ id }) => id >= from).slice(0, limit),
  };
  readonly watch = {
    watchLogs: (_runId: string, observer: LogObserver) => {
      this.observer = observer;
      return () => {};
    },
  };

  async follow(status: RunStatus): Promise<void> {
    const bounds = { quietMs: 1_000, until: this.clock.now() + 60_000, signal: this.gone.signal };
    const request = { runId: 'run_1', filter: {}, after: undefined, status, ...bounds };
    for await (const one of followLogs(this, request)) this.told.push(one);
  }
}

describe('a follower of the lines of a run', () => {
  test('receives all lines of an ended run, and its end', async () => {
    const scene = new Scene();
    await scene.follow('completed');
    expect(scene.told.map(({ kind }) => kind)).toEqual([...SEGMENTS.map(() => 'line'), 'ended']);
  });

  test.each(['completed', 'running'] as const)(
    'is not told of the end while lines are left, because the instance shuts down: %s at the start',
    async (status) => {
      const scene = new Scene();
      const { readLogs } = scene.logs;
      scene.logs.readLogs = (...args) => {
        scene.gone.abort();
        return readLogs(...args);
      };
      const done = scene.follow(status);
      await settle();
      scene.observer?.onLogs({ status: 'completed', stopKind: undefined });
      await done;
      expect(scene.told.map(({ kind }) => kind)).toEqual(Array.from({ length: 10 }, () => 'line'));
    },
  );
});
