/** What a diagnosis asks beside the stores, over an installation in memory: a queue, secrets and counts that are well. */
import type { DiagnosisParts } from '../../functions/src/api/deps.ts';
import { MemoryHeartbeatStore } from '../../functions/src/memory/diagnosis/memory-heartbeat-store.ts';
import { MemoryStoreLook } from '../../functions/src/memory/diagnosis/memory-store-look.ts';
import type { MemoryDatabase } from '../../functions/src/memory/memory-database.ts';
import { InstanceOperations } from '../../functions/src/platform/diagnosis/instance-operations.ts';

export function pretendedDiagnosis(db: MemoryDatabase, clock: { now(): number }): DiagnosisParts {
  return {
    look: new MemoryStoreLook(db),
    heartbeats: new MemoryHeartbeatStore(db),
    queueLook: {
      look: async () => ({
        kind: 'seen',
        state: 'running',
        tasks: { kind: 'counted', depth: 0, isCut: false },
      }),
    },
    setup: {
      project: 'demo-cairn',
      publishes: true,
      secrets: () => [{ name: 'GITHUB_TOKEN', functions: ['drive'], state: 'set' }],
      wrongParameters: () => [],
    },
    operations: new InstanceOperations(clock),
  };
}
