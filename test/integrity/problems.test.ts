import { describe, expect, test } from '@jest/globals';
import { PROBLEMS } from '../../packages/cairn/src/core/integrity/problem-table.ts';
import { PROBLEM_CODES, type ProblemCode } from '../../packages/cairn/src/core/integrity/problems.ts';
import type { Bench } from './support/bench.ts';
import type { Case } from './support/cases/case.ts';
import { CASES } from './support/cases/index.ts';
import { waiting } from './support/runs.ts';

const cases = CASES.map((one) => [one.code, one.how, one] as const);
const healed = cases.filter(([, , { repair }]) => repair === 'healed');
const refused = cases.filter(([, , { repair }]) => repair === 'refused');

/** A run in which this is wrong, and nothing else. */
async function damaged({ code, run, damage, also = [] }: Case): Promise<Bench> {
  const bench = await run();
  damage(bench);
  const problems = await bench.check();
  expect(new Set(problems.map((problem) => problem.code))).toEqual(new Set([code, ...also]));
  for (const problem of problems) {
    expect(problem.severity).toBe(PROBLEMS[problem.code].severity);
    expect(JSON.stringify(problem.evidence).length).toBeLessThan(500);
  }
  return bench;
}

test('each problem code has a case here', () => {
  const made = new Set<ProblemCode>(CASES.map(({ code }) => code));
  // Only Firestore has pages: test/store/pages/pages.test.ts.
  const ofPages: ProblemCode[] = ['PAGE_MISSING', 'PAGE_DAMAGED', 'PAGE_ORPHANED'];
  expect(made.union(new Set(ofPages))).toEqual(new Set(PROBLEM_CODES));
});

test('the evidence names a member as the document does', async () => {
  const bench = await waiting();
  bench.shelf.change('runs', bench.runId, { inbox: '[{"signalId":"s"}]' });
  expect(await bench.check()).toMatchObject([
    { code: 'SNAPSHOT_DIFFERENT', evidence: { members: ['inbox'] } },
  ]);
});

describe('is found and repaired', () => {
  test.each(healed)('%s: %s', async (code, _how, one) => {
    const bench = await damaged(one);
    const before = bench.shelf.all();

    const planned = await bench.repair(false);
    expect(planned).toMatchObject({ outcome: 'planned', refused: [], events: [] });
    expect([...planned.changes, ...planned.places].flatMap(({ fixes }) => fixes)).toContain(code);
    expect(bench.shelf.all()).toEqual(before);

    const journal = bench.shelf.journal();
    const applied = await bench.repair();
    expect(applied).toMatchObject({ outcome: 'applied', refused: [] });
    expect(applied.changes.map(({ subject }) => subject)).toEqual(
      planned.changes.map(({ subject }) => subject),
    );
    expect(await bench.check()).toEqual([]);
    const added = bench.shelf.journal().slice(journal.length);
    expect(bench.shelf.journal().slice(0, journal.length)).toEqual(journal);
    expect(added.map(({ seq, type, actor }) => [seq, type, actor])).toEqual(
      applied.events.map((seq) => [seq, 'snapshot_repaired', 'c.operator']),
    );

    const after = bench.shelf.all();
    expect((await bench.repair()).outcome).toBe('sound');
    expect(bench.shelf.all()).toEqual(after);
  });
});

describe('is found and needs a person', () => {
  test.each(refused)('%s: %s', async (code, _how, one) => {
    const bench = await damaged(one);
    const before = bench.shelf.all();
    for (const apply of [false, true]) {
      const report = await bench.repair(apply);
      expect(report).toMatchObject({ outcome: 'refused', changes: [], places: [], events: [] });
      expect(report.refused.map((problem) => problem.code)).toContain(code);
    }
    expect(PROBLEMS[code].help.length).toBeGreaterThan(20);
    expect(bench.shelf.all()).toEqual(before);
  });
});
