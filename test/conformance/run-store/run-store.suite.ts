/** Contract of run stores, part by part; each implementation runs all of it. */
import { afterAll, beforeEach, describe } from '@jest/globals';
import type { Harness, Stores } from '../support/harness.ts';
import { commitClaims } from './commit.suite.ts';
import { dueClaims } from './due.suite.ts';
import { largeClaims } from './large.suite.ts';
import { listClaims } from './lists.suite.ts';
import { loadClaims } from './load.suite.ts';
import { logClaims } from './logs.suite.ts';
import { pageClaims } from './pages.suite.ts';
import { startClaims } from './start.suite.ts';
import { supersedeClaims } from './supersede.suite.ts';
import { touchClaims } from './touch.suite.ts';

export function runStoreConformance(name: string, harness: Harness): void {
  describe(name, () => {
    let stores: Stores;
    beforeEach(async () => {
      stores = await harness.make();
    });
    afterAll(() => harness.close());
    const parts = [
      startClaims,
      supersedeClaims,
      commitClaims,
      loadClaims,
      touchClaims,
      dueClaims,
      listClaims,
      largeClaims,
      pageClaims,
      logClaims,
    ];
    for (const claims of parts) claims(() => stores);
  });
}
