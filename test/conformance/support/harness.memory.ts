/** The memory adapters under a clock that only moves when told to. */

import { MemoryFindingStore } from '../../../packages/cairn/src/memory/diagnosis/memory-finding-store.ts';
import { MemoryHeartbeatStore } from '../../../packages/cairn/src/memory/diagnosis/memory-heartbeat-store.ts';
import { MemoryStoreLook } from '../../../packages/cairn/src/memory/diagnosis/memory-store-look.ts';
import { MemoryIntegrityStore } from '../../../packages/cairn/src/memory/integrity/memory-integrity-store.ts';
import { MemoryRunSample } from '../../../packages/cairn/src/memory/integrity/memory-run-sample.ts';
import { MemoryClientStore } from '../../../packages/cairn/src/memory/memory-client-store.ts';
import { MemoryDatabase } from '../../../packages/cairn/src/memory/memory-database.ts';
import { MemoryEffectStore } from '../../../packages/cairn/src/memory/memory-effect-store.ts';
import { MemoryIdempotencyStore } from '../../../packages/cairn/src/memory/memory-idempotency-store.ts';
import { MemoryMailboxStore } from '../../../packages/cairn/src/memory/memory-mailbox-store.ts';
import { MemoryRunStatistics } from '../../../packages/cairn/src/memory/memory-run-statistics.ts';
import { MemoryRunStore } from '../../../packages/cairn/src/memory/memory-run-store.ts';
import { MemoryRuntimeConfigStore } from '../../../packages/cairn/src/memory/memory-runtime-config-store.ts';
import { MemoryScheduleStore } from '../../../packages/cairn/src/memory/memory-schedule-store.ts';
import { MemoryErasureStore } from '../../../packages/cairn/src/memory/retention/memory-erasure-store.ts';
import { MemoryRetentionStore } from '../../../packages/cairn/src/memory/retention/memory-retention-store.ts';
import { MemoryDayBudgetStore } from '../../../packages/cairn/src/memory/runs/memory-day-budget-store.ts';
import { MemoryLogStore } from '../../../packages/cairn/src/memory/runs/memory-log-store.ts';
import { MemoryPlanStore } from '../../../packages/cairn/src/memory/runs/memory-plan-store.ts';
import { MemoryRunFinder } from '../../../packages/cairn/src/memory/runs/memory-run-finder.ts';
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
        look: new MemoryStoreLook(db),
        passTime: (ms) => {
          time += ms;
        },
        now,
      };
    },
    async close() {},
  };
}
