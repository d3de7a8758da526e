import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { type PlanFinding, planFindings } from '../../../packages/local/src/changed-plans.ts';
import { Installation } from '../../api/installation.ts';

const TYPE = 'order';
const version = (planVersion: number, step = 'ship') =>
  defineWorkflow({
    type: TYPE,
    planVersion,
    input: z.object({}),
    steps: (steps) => ({ [step]: steps(step, () => 1) }),
  });

/** Effect of an edit on a version. */
const EDITS = ['none', 'removed', 'changed'] as const;

/** Versions from 1, each with its runs and the effect of the edit. */
const versions = fc.array(
  fc.record({ live: fc.integer({ min: 0, max: 7 }), edit: fc.constantFrom(...EDITS) }),
  { minLength: 1, maxLength: 3 },
);

type Version = { readonly live: number; readonly edit: (typeof EDITS)[number] };

/** @param list replaces the API's list of runs */
async function edited(made: readonly Version[], list?: () => Response) {
  const numbered = made.map((one, index) => ({ ...one, planVersion: index + 1 }));
  const installation = new Installation(numbered.map(({ planVersion }) => version(planVersion)));
  const { world } = installation;
  const started: Record<number, string[]> = {};
  for (const { planVersion, live } of numbered)
    for (let run = 0; run < live; run += 1) {
      const runId = await world.start(TYPE, {}, { tenantId: 'acme', workflow: version(planVersion) });
      started[planVersion] = [...(started[planVersion] ?? []), runId];
    }
  const key = await installation.key('dev', { roles: ['installation'] });
  const registry = new WorkflowRegistry(
    numbered.flatMap(({ planVersion, edit }) =>
      edit === 'removed' ? [] : [version(planVersion, edit === 'changed' ? 'deliver' : undefined)],
    ),
  );
  const api = createApi({ ...installation.apiDeps, registry });
  let lists = 0;
  const ask = async (path: string) => {
    const isList = path.startsWith('/v1/runs?');
    if (isList) lists += 1;
    if (isList && list) return list();
    return api.request(path, { headers: { authorization: `Bearer ${key}` } });
  };
  const findings = await planFindings(ask);
  return { numbered, started, findings, lists };
}

describe('after an edit of workflows', () => {
  test('each version that it removed or changed is reported with its live runs, and no other', async () => {
    await fc.assert(
      fc.asyncProperty(versions, async (made) => {
        const { numbered, started, findings, lists } = await edited(made);
        // A version without runs was never stored, so it cannot change.
        const blocking = numbered.filter(({ edit, live }) => edit !== 'none' && live > 0);
        expect(
          findings.map(({ kind, planVersion, liveRuns }) => [planVersion, kind, liveRuns]).sort(),
        ).toEqual(
          blocking.map(({ planVersion, edit, live }) => [
            planVersion,
            edit === 'removed' ? 'missing' : edit,
            live,
          ]),
        );
        expect(lists).toBe(blocking.length > 0 ? 1 : 0);
        for (const { planVersion, liveRuns, runs, message } of findings) {
          expect(started[planVersion]).toEqual(expect.arrayContaining([...runs]));
          expect(runs).toHaveLength(Math.min(liveRuns, 5));
          for (const run of runs) expect(message).toContain(run);
          expect(message.includes('cairn runs list --type order')).toBe(liveRuns > 5);
        }
      }),
      { numRuns: 40 },
    );
  });

  test('if the list of runs fails, the check succeeds, and its reports name the command instead of runs', async () => {
    const failures = fc.constantFrom(
      () => new Response('broken', { status: 500 }),
      () => new Response('nothing', { status: 404 }),
      () => new Response('no JSON'),
      () => {
        throw new DOMException('no answer', 'TimeoutError');
      },
    );
    await fc.assert(
      fc.asyncProperty(versions, failures, async (made, list) => {
        const { findings } = await edited(made);
        const { findings: unnamed } = await edited(made, list);
        const known = ({ kind, planVersion, liveRuns }: PlanFinding) => ({ kind, planVersion, liveRuns });
        expect(unnamed.map(known)).toEqual(findings.map(known));
        for (const { runs, message } of unnamed) {
          expect(runs).toEqual([]);
          expect(message).toContain('cairn runs list --type order');
        }
      }),
      { numRuns: 20 },
    );
  });

  test('the report of a removed version names the blocked runs, what to do, and the place of the version', async () => {
    const { started, findings } = await edited([
      { live: 2, edit: 'removed' },
      { live: 0, edit: 'none' },
    ]);
    const [{ message, runs } = { message: '', runs: [] }] = findings;
    expect([...runs].sort()).toEqual(started[1]?.toSorted());
    expect(message).toBe(
      `'order' version 1 was removed from the functions. Its 2 live runs (${runs.join(', ')}) are blocked until it is back; ` +
        'nothing is lost. Undo the edit, or add version 1 again beside version 2: they continue within ten minutes, ' +
        'or at once with cairn runs resume RUN. To end them: cairn runs cancel RUN --without-undo.',
    );
  });
});
