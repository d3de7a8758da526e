/** Contract of task queues. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { DriveTask, TaskQueue } from '../../../packages/cairn/src/ports/task-queue.ts';
import { T0 } from '../support/run-fixture.ts';

export interface QueueHarness {
  readonly queue: TaskQueue;
  /** Undelivered tasks in order of acceptance. */
  waiting(): readonly DriveTask[];
  /** Treats the oldest accepted task as delivered. */
  deliverFirst(): void;
}

export function taskQueueConformance(name: string, make: () => QueueHarness): void {
  describe(`${name}: enqueue`, () => {
    let harness: QueueHarness;
    beforeEach(() => {
      harness = make();
    });

    test('keeps run, reason, due time and name', async () => {
      const tasks: DriveTask[] = [
        { runId: 'run_1', reason: 'start' },
        { runId: 'run_1', reason: 'retry', at: T0 + 61_234 },
        { runId: 'run_2', reason: 'recovery', at: T0, name: 'a-name_1' },
      ];
      for (const task of tasks) await harness.queue.enqueue(task);
      expect(harness.waiting()).toEqual(tasks);
    });

    test('accepts equal unnamed tasks as two', async () => {
      await harness.queue.enqueue({ runId: 'run_1', reason: 'start' });
      await harness.queue.enqueue({ runId: 'run_1', reason: 'start' });
      expect(harness.waiting()).toHaveLength(2);
    });

    test('accepts a name once, even after its task was delivered, and does not report a repetition as an error', async () => {
      await harness.queue.enqueue({ runId: 'run_1', reason: 'retry', name: 'n' });
      await harness.queue.enqueue({ runId: 'run_1', reason: 'recovery', name: 'n' });
      expect(harness.waiting()).toEqual([{ runId: 'run_1', reason: 'retry', name: 'n' }]);
      harness.deliverFirst();
      await harness.queue.enqueue({ runId: 'run_1', reason: 'retry', name: 'n' });
      expect(harness.waiting()).toEqual([]);
    });
  });
}
