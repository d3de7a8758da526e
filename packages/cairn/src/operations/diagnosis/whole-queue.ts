/** The queue of `drive` with its further queues, between which tenants are divided, as one. Pure. */
import type { SeenQueue, SeenTasks, WatchedQueue } from '../../ports/diagnosis/queue-probe.ts';

type Inspected = WatchedQueue & { readonly seen: SeenQueue };

/** State of the first queue, with the tasks of all that could be counted. Undefined: no queue was inspected. */
export function wholeQueue([first, ...others]: readonly Inspected[]): SeenQueue | undefined {
  if (first?.seen.kind !== 'seen') return first?.seen;
  const further = others.flatMap(({ of, seen }) =>
    of === first.name && seen.kind === 'seen' ? [seen.tasks] : [],
  );
  return { ...first.seen, tasks: further.reduce(together, first.seen.tasks) };
}

function together(some: SeenTasks, more: SeenTasks): SeenTasks {
  if (some.kind !== 'counted' || more.kind !== 'counted') return some;
  const due = [some.oldestDueAt, more.oldestDueAt].filter((at) => at !== undefined);
  return {
    kind: 'counted',
    depth: some.depth + more.depth,
    isCut: some.isCut || more.isCut,
    oldestDueAt: due.length === 0 ? undefined : Math.min(...due),
  };
}
