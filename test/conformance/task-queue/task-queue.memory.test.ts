import { describe, expect, test } from '@jest/globals';
import { MemoryTaskQueue } from '../../../packages/cairn/src/memory/memory-task-queue.ts';
import { taskQueueConformance } from './task-queue.suite.ts';

taskQueueConformance('memory task queue', () => {
  const queue = new MemoryTaskQueue();
  return {
    queue,
    waiting: () => queue.pending.map(({ id: _, retryCount: __, ...task }) => task),
    deliverFirst: () => {
      queue.take();
    },
  };
});

describe('memory task queue: for a driver', () => {
  test('due tasks come earliest first, and are removed only when they are taken', async () => {
    const queue = new MemoryTaskQueue();
    await queue.enqueue({ runId: 'late', reason: 'retry', at: 30 });
    await queue.enqueue({ runId: 'early', reason: 'retry', at: 10 });
    await queue.enqueue({ runId: 'now', reason: 'start' });
    expect(queue.nextAt()).toBe(0);
    expect(queue.due(20).map(({ runId }) => runId)).toEqual(['now', 'early']);
    expect(queue.take(queue.due(20)[1]?.id)?.runId).toBe('early');
    expect(queue.take()?.runId).toBe('late');
    expect(queue.due(99).map(({ runId }) => runId)).toEqual(['now']);
    queue.take();
    expect(queue.take()).toBeUndefined();
    expect(queue.nextAt()).toBeUndefined();
  });
});
