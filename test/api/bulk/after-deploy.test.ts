import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { UndecodableDocument } from '../../../packages/cairn/src/ports/store-errors.ts';
import { BulkStage, type Report } from './stage.ts';

const other = (type: string, planVersion: number) =>
  defineWorkflow({
    type,
    planVersion,
    input: z.object({}),
    steps: (step) => ({ other: step('other', () => 1) }),
  });

/** Deployments without the definitions of the runs. */
const LATER = {
  'leaves the version out': [other('asking', 2), other('order', 2)],
  'changed the version': [other('asking', 1), other('order', 1)],
};

let stage: BulkStage;
beforeEach(() => {
  stage = new BulkStage();
});

/** Deploys these workflows. @returns deploys what was there before */
function deploy(workflows: readonly ReturnType<typeof other>[]): () => void {
  const { installation } = stage;
  const { api } = installation;
  installation.api = createApi({ ...installation.apiDeps, registry: new WorkflowRegistry(workflows) });
  return () => {
    installation.api = api;
  };
}

const outcomesOf = ({ results }: Report) => results.map(({ outcome }) => outcome);

describe.each(Object.entries(LATER))('while a deployment %s', (_, workflows) => {
  test.each(['approve', 'resume', 'replay', 'cancel'])(
    'a dry run of %s says which runs the change refuses, and how it would end the others',
    async (act) => {
      const runs = [await stage.start('asking'), await stage.start('order'), await stage.start('twice')];
      await stage.drive();
      deploy(workflows);
      const foreseen = await stage.report({ act, runs, dryRun: true });
      const made = await stage.report({ act, runs });
      expect(foreseen.results.map(({ problem }) => problem?.code)).toEqual(
        made.results.map(({ problem }) => problem?.code),
      );
      const ways = { cancelled: 'end_at_once', cancelling: 'ask_to_end' };
      for (const [i, { answer }] of made.results.entries())
        if (answer?.status !== undefined && act === 'cancel')
          expect(foreseen.results[i]?.would?.would).toBe(ways[answer.status as keyof typeof ways]);
    },
  );

  test.each([
    ['approve', 'asking', {}],
    ['approve', 'asking', { filter: { type: 'asking' } }],
    ['resume', 'order', {}],
    ['replay', 'order', { filter: { type: 'order' } }],
  ])(
    'the refusal of %s for a run of %s ends with the next deployment, under the same key',
    async (act, type, filter) => {
      const run = await stage.start(type);
      await stage.drive();
      const request = 'filter' in filter ? { act, ...filter } : { act, runs: [run] };
      const key = { 'idempotency-key': 'k1' };
      const restore = deploy(workflows);
      const refused = await stage.report(request, key);
      expect(outcomesOf(refused)).toEqual(['failed']);
      expect(refused.results[0]?.problem?.code).toMatch(/^PLAN_/);
      restore();
      const done = await stage.report(request, key);
      expect(outcomesOf(done)).toEqual(['done']);
      const repeated = await stage.send(request, key);
      expect(repeated.headers.get('idempotency-replayed')).toBe('true');
      expect(await repeated.json()).toEqual(done);
    },
  );
});

test('a run that cannot be read has its own outcome in an approval by a filter, and the others are approved', async () => {
  const [good = '', damaged = ''] = await stage.starts('asking', 2);
  await stage.drive();
  const { store } = stage.installation.world;
  const { load } = store;
  store.load = (runId, tenantId) =>
    runId === damaged
      ? Promise.reject(new UndecodableDocument(`run ${damaged}: its page is missing`))
      : load.call(store, runId, tenantId);
  const request = { act: 'approve', filter: { type: 'asking' } };
  const key = { 'idempotency-key': 'k1' };
  const report = await stage.report(request, key);
  const of = (id: string, { results }: Report) => results.find(({ runId }) => runId === id);
  expect(of(good, report)).toMatchObject({ outcome: 'done' });
  expect(of(damaged, report)).toMatchObject({ outcome: 'failed', problem: { code: 'DATA_DAMAGED' } });
  // It was repaired.
  store.load = load;
  const repeated = await stage.report(request, key);
  expect(of(good, repeated)).toEqual(of(good, report));
  expect(of(damaged, repeated)).toMatchObject({ outcome: 'done' });
});
