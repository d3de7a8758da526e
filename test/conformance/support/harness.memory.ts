/** The memory adapters with a clock that only the test moves. */

import { MemoryDatabase } from '../../../packages/cairn/src/memory/memory-database.ts';
import {
  MemoryDayBudgetStore,
  MemoryFindingStore,
  MemoryIdempotencyStore,
  MemoryMailboxStore,
  MemoryPlanStore,
  MemoryRuntimeConfigStore,
  MemoryScheduleStore,
} from '../../../packages/cairn/src/memory/memory-documents.ts';
import { MemoryEffectStore } from '../../../packages/cairn/src/memory/memory-effect-store.ts';
import { MemoryRunFinder } from '../../../packages/cairn/src/memory/memory-run-finder.ts';
import { MemoryRunStatistics } from '../../../packages/cairn/src/memory/memory-run-statistics.ts';
import { MemoryRunStore } from '../../../packages/cairn/src/memory/memory-run-store.ts';
import { MemoryClientStore } from '../../support/memory/memory-client-store.ts';
import { MemoryErasureStore } from '../../support/memory/memory-erasure-store.ts';
import { MemoryHeartbeatStore } from '../../support/memory/memory-heartbeat-store.ts';
import { MemoryIntegrityStore } from '../../support/memory/memory-integrity-store.ts';
import { MemoryLogStore } from '../../support/memory/memory-log-store.ts';
import { MemoryRetentionStore } from '../../support/memory/memory-retention-store.ts';
import { MemoryRunSample } from '../../support/memory/memory-run-sample.ts';
import { MemoryStoreProbe } from '../../support/memory/memory-store-probe.ts';
import type { Harness } from './harness.ts';
import { T0 } from './run-fixture.ts';

export function memoryHarness(): Harness {
  return {
    async make() {
      let time = T0;
      const now = () => time;
      const db = new MemoryDatabase({ now });
      return {
        runs: new MemoryRunStore(db),
        logs: new MemoryLogStore(db),
        idempotency: new MemoryIdempotencyStore(db),
        clients: new MemoryClientStore(db),
        mailboxes: new MemoryMailboxStore(db),
        effects: new MemoryEffectStore(db),
        integrity: new MemoryIntegrityStore(db),
        sample: new MemoryRunSample(db),
        config: new MemoryRuntimeConfigStore(db),
        statistics: new MemoryRunStatistics(db),
        finder: new MemoryRunFinder(db),
        retention: new MemoryRetentionStore(db),
        erasures: new MemoryErasureStore(db),
        schedules: new MemoryScheduleStore(db),
        plans: new MemoryPlanStore(db),
        dayBudgets: new MemoryDayBudgetStore(db),
        heartbeats: new MemoryHeartbeatStore(db),
        findings: new MemoryFindingStore(db),
        look: new MemoryStoreProbe(db),
        passTime: (ms) => {
          time += ms;
        },
        now,
      };
    },
    async close() {},
  };
}
