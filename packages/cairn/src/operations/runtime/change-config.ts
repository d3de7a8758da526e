/** Changes the runtime configuration: reads, decides, writes if the version is unchanged, and otherwise starts over. */
import type { WorkflowRegistry } from '../../engine/define/registry.ts';
import type { Pools } from '../../engine/enqueue-soon.ts';
import { changeVersioned, OVERTAKEN } from '../../journal/change-versioned.ts';
import { type SendDeps, sendUntilKnown } from '../../journal/send-until-known.ts';
import type { Log } from '../../ports/log.ts';
import type { RunStatistics } from '../../ports/run-statistics.ts';
import { NOTHING_SET, type RuntimeConfig, type RuntimeConfigStore } from '../../ports/runtime-config.ts';
import type { TaskQueue } from '../../ports/task-queue.ts';

export interface RuntimeDeps extends SendDeps, Pools {
  readonly config: RuntimeConfigStore;
  readonly statistics: RunStatistics;
  readonly queue: TaskQueue;
  readonly registry: WorkflowRegistry;
  readonly log: Log;
}

/** The current configuration. @throws CairnError UNAVAILABLE */
export async function readConfig(deps: SendDeps & Pick<RuntimeDeps, 'config'>): Promise<RuntimeConfig> {
  return (await sendUntilKnown(deps, () => deps.config.read()))?.config ?? NOTHING_SET;
}

/**
 * The configuration after the change. `decide` is called again for each newer version. It returns undefined if its change is
 * already present, for example after a lost response.
 *
 * @throws CairnError UNAVAILABLE (send the same again), or errors of `decide`
 */
export async function changeConfig(
  deps: SendDeps & Pick<RuntimeDeps, 'config'>,
  decide: (current: RuntimeConfig) => RuntimeConfig | undefined,
): Promise<RuntimeConfig> {
  const { config } = deps;
  return changeVersioned('changes of the runtime configuration', async () => {
    const stored = await sendUntilKnown(deps, () => config.read());
    const current = stored?.config ?? NOTHING_SET;
    const next = decide(current);
    if (!next) return current;
    const written = await sendUntilKnown(deps, () => config.write(next, stored?.version));
    return written.kind === 'written' ? next : OVERTAKEN;
  });
}
