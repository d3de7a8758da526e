/** Contract of run stores: values outside the journal; each implementation runs all of it. */
import { afterAll, beforeEach, describe } from '@jest/globals';
import type { Harness, Stores } from '../support/harness.ts';
import { memoClaims } from './memos.suite.ts';
import { payloadClaims } from './payloads.suite.ts';

export function valueStoreConformance(name: string, harness: Harness): void {
  describe(name, () => {
    let stores: Stores;
    beforeEach(async () => {
      stores = await harness.make();
    });
    afterAll(() => harness.close());
    for (const claims of [payloadClaims, memoClaims]) claims(() => stores);
  });
}
