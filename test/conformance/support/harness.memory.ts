/** The memory adapters under a clock that only moves when told to. */

import { MemoryHeartbeatStore } from '../../../functions/src/memory/diagnosis/memory-heartbeat-store.ts';
import { MemoryStoreLook } from '../../../functions/src/memory/diagnosis/memory-store-look.ts';
import { MemoryIntegrityStore } from '../../../functions/src/memory/integrity/memory-integrity-store.ts';
import { MemoryRunSample } from '../../../functions/src/memory/integrity/memory-run-sample.ts';
import { MemoryClientStore } from '../../../functions/src/memory/memory-client-store.ts';
import { MemoryDatabase } from '../../../functions/src/memory/memory-database.ts';
import { MemoryEffectStore } from '../../../functions/src/memory/memory-effect-store.ts';
import { MemoryIdempotencyStore } from '../../../functions/src/memory/memory-idempotency-store.ts';
import { MemoryRendezvousStore } from '../../../functions/src/memory/memory-rendezvous-store.ts';
import { MemoryRunCensus } from '../../../functions/src/memory/memory-run-census.ts';
import { MemoryRunStore } from '../../../functions/src/memory/memory-run-store.ts';
import { MemoryRuntimeConfigStore } from '../../../functions/src/memory/memory-runtime-config-store.ts';
import { MemoryScheduleStore } from '../../../functions/src/memory/memory-schedule-store.ts';
import { MemoryRetentionStore } from '../../../functions/src/memory/retention/memory-retention-store.ts';
import { MemoryRunFinder } from '../../../functions/src/memory/runs/memory-run-finder.ts';
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
        idempotency: new MemoryIdempotencyStore(db),
        clients: new MemoryClientStore(db),
        rendezvous: new MemoryRendezvousStore(db),
        effects: new MemoryEffectStore(db),
        integrity: new MemoryIntegrityStore(db),
        sample: new MemoryRunSample(db),
        config: new MemoryRuntimeConfigStore(db),
        census: new MemoryRunCensus(db),
        finder: new MemoryRunFinder(db),
        retention: new MemoryRetentionStore(db),
        schedules: new MemoryScheduleStore(db),
        heartbeats: new MemoryHeartbeatStore(db),
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
