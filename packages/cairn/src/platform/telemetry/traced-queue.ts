/** Traces each attempt to enqueue a task. Used only with a collector. */
import type { InstallationMetrics } from '../../ports/metrics.ts';
import type { DriveTask, TaskQueue } from '../../ports/task-queue.ts';
import { errorTypeOf, type Span, type Tracer } from '../../ports/tracing.ts';

interface TracedQueueOptions {
  readonly queue: TaskQueue;
  readonly counts: InstallationMetrics;
  readonly tracer: Tracer | undefined;
}

export function tracedQueue({ queue, counts, tracer }: TracedQueueOptions): TaskQueue {
  return {
    async enqueue(task) {
      const span = tracer && openSend(tracer, task);
      try {
        await queue.enqueue({ ...task, trace: span?.context ?? task.trace });
      } catch (error) {
        counts.enqueue({ reason: task.reason, result: 'failed' });
        span?.end(errorTypeOf(error));
        throw error;
      }
      counts.enqueue({ reason: task.reason, result: 'accepted' });
      span?.end();
    },
  };
}

/** A dispatch without a parent trace has no span. */
function openSend(tracer: Tracer, { runId, reason, at, trace: parent }: DriveTask): Span | undefined {
  if (!parent) return undefined;
  return tracer.open({
    name: 'send drive',
    kind: 'producer',
    parent,
    attributes: {
      'messaging.system': 'gcp_cloud_tasks',
      'messaging.operation.name': 'send',
      'messaging.operation.type': 'send',
      'messaging.destination.name': 'drive',
      'cairn.run.id': runId,
      'cairn.drive.reason': reason,
      'cairn.drive.is_delayed': at !== undefined,
    },
  });
}
