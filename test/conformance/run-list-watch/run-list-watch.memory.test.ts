import { MemoryDatabase } from '../../../packages/cairn/src/memory/memory-database.ts';
import { MemoryRunStore } from '../../../packages/cairn/src/memory/memory-run-store.ts';
import { MemoryRetentionStore } from '../../support/memory/memory-retention-store.ts';
import { MemoryRunListWatch } from '../../support/memory/memory-run-list-watch.ts';
import { T0 } from '../support/run-fixture.ts';
import { runListWatchConformance } from './run-list-watch.suite.ts';

runListWatchConformance('memory run list watch', {
  async make() {
    const db = new MemoryDatabase({ now: () => T0 });
    const runs = new MemoryRunStore(db);
    return { runs, retention: new MemoryRetentionStore(db), watch: new MemoryRunListWatch(db, runs) };
  },
  async close() {},
});
