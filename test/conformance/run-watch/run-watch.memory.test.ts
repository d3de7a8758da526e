import { MemoryDatabase } from '../../../packages/cairn/src/memory/memory-database.ts';
import { MemoryRunStore } from '../../../packages/cairn/src/memory/memory-run-store.ts';
import { MemoryRunWatch } from '../../support/memory/memory-run-watch.ts';
import { T0 } from '../support/run-fixture.ts';
import { runWatchConformance } from './run-watch.suite.ts';

runWatchConformance('memory run watch', {
  async make() {
    const runs = new MemoryRunStore(new MemoryDatabase({ now: () => T0 }));
    return { runs, watch: new MemoryRunWatch(runs) };
  },
  async close() {},
});
