/** A world whose run store records its calls and commits. */
import type { JournalCommit } from '../../packages/cairn/src/ports/run-store.ts';
import { intercept } from './intercept.ts';
import type { World } from './world.ts';

export function metered(world: World) {
  const calls: string[] = [];
  const commits: JournalCommit[] = [];
  /** Sequence numbers of the checkpoints that were read. */
  const checkpoints: number[] = [];
  const store = intercept(world.store, ({ method, args }, proceed) => {
    calls.push(method);
    if (method === 'commit') commits.push(args[0] as JournalCommit);
    if (method === 'readCheckpoints') checkpoints.push(...(args[1] as readonly number[]));
    return proceed();
  });
  return {
    deps: { ...world.deps, store },
    calls,
    commits,
    checkpoints,
    /** The last commit that wrote the step. */
    commitOf(stepId: string): JournalCommit {
      const commit = commits.findLast(({ steps }) => steps.some(({ id }) => id === stepId));
      if (!commit) throw new Error(`no commit wrote '${stepId}'`);
      return commit;
    },
    reads: () =>
      calls.filter((method) => method.startsWith('read') || method === 'load' || method === 'listSteps'),
  };
}

/** Documents that the commit writes beside the run document. */
export function writesOf({ events, checkpoints, steps }: JournalCommit): number {
  return events.length + checkpoints.length + steps.length;
}
