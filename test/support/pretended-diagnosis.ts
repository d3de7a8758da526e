/** Diagnosis inputs besides the stores, for an installation in memory: healthy queue, secrets and counts. */
import type { DiagnosisParts } from '../../packages/cairn/src/api/deps.ts';
import type { MemoryDatabase } from '../../packages/cairn/src/memory/memory-database.ts';
import { MemoryFindingStore } from '../../packages/cairn/src/memory/memory-documents.ts';
import { InstanceOperations } from '../../packages/cairn/src/platform/diagnosis/instance-operations.ts';
import { MemoryHeartbeatStore } from './memory/memory-heartbeat-store.ts';
import { MemoryStoreProbe } from './memory/memory-store-probe.ts';

export function pretendedDiagnosis(db: MemoryDatabase, clock: { now(): number }): DiagnosisParts {
  return {
    storeProbe: new MemoryStoreProbe(db),
    heartbeats: new MemoryHeartbeatStore(db),
    findings: new MemoryFindingStore(db),
    queueProbe: {
      queues: [
        { name: 'drive', isAlone: false },
        { name: 'driveAlone', isAlone: true },
      ],
      inspect: async () => ({
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
