/** Contract of stores of findings. */
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { FindingStore, RunFinding } from '../../../packages/cairn/src/ports/diagnosis/findings.ts';
import type { Harness } from '../support/harness.ts';
import { T0 } from '../support/run-fixture.ts';

const finding = (runId: string, more: Partial<RunFinding> = {}): RunFinding => ({
  runId,
  tenantId: 'acme',
  type: 'sized',
  head: 7,
  stepId: 'size[3]',
  reason: 'request',
  message: 'the document is too "large"',
  since: T0,
  lastAt: T0,
  ...more,
});

export function findingsConformance(name: string, harness: Harness): void {
  describe(name, () => {
    let store: FindingStore;
    beforeEach(async () => {
      store = (await harness.make()).findings;
    });
    afterAll(() => harness.close());

    test('a run without a finding is not found, and can be cleared', async () => {
      await store.clear('run_1');
      expect([await store.find('run_1'), await store.list(5)]).toEqual([undefined, []]);
    });

    test('a finding reads back unchanged until it is cleared', async () => {
      const { stepId: _, ...bare } = finding('run_2', { reason: 'installation' });
      await store.note(finding('run_1'));
      await store.note(bare);
      expect(await store.find('run_1')).toEqual(finding('run_1'));
      expect(await store.find('run_2')).toEqual(bare);
      await store.clear('run_1');
      expect(await store.list(5)).toEqual([bare]);
    });

    test('a later finding replaces the earlier one, except for the time of the first', async () => {
      await store.note(finding('run_1'));
      await store.note(finding('run_1', { since: T0 + 9, lastAt: T0 + 9, head: 8 }));
      expect(await store.find('run_1')).toEqual(finding('run_1', { lastAt: T0 + 9, head: 8 }));
    });

    test('a list has at most the requested number, by run id', async () => {
      for (const id of ['run_c', 'run_a', 'run_b']) await store.note(finding(id));
      expect((await store.list(2)).map(({ runId }) => runId)).toEqual(['run_a', 'run_b']);
      expect((await store.list(2, 'run_b')).map(({ runId }) => runId)).toEqual(['run_c']);
      expect(await store.list(2, 'run_c')).toEqual([]);
    });

    test('a list of a tenant has its own findings, at most the requested number', async () => {
      for (const id of ['run_d', 'run_c', 'run_a']) await store.note(finding(id));
      await store.note(finding('run_b', { tenantId: 'rival', reason: 'dispatches' }));
      const named = async (tenantId: string, limit: number) =>
        (await store.ofTenant(tenantId, limit)).map(({ runId }) => runId);
      expect(await named('acme', 5)).toEqual(['run_a', 'run_c', 'run_d']);
      expect(await named('acme', 2)).toEqual(['run_a', 'run_c']);
      expect(await named('rival', 5)).toEqual(['run_b']);
      expect(await named('nobody', 5)).toEqual([]);
    });
  });
}
