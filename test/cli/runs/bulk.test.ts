import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { Fatal } from '../../../packages/cairn/src/index.ts';
import { Stage } from '../support/stage.ts';

let isBroken = true;

const order = defineWorkflow({
  type: 'order',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({
    paid: step('pay', () => {
      if (isBroken) throw new Fatal('the bank is down');
      return 'paid';
    }),
  }),
});
const asking = (type: string) =>
  defineWorkflow({
    type,
    planVersion: 1,
    input: z.object({ amount: z.number().optional() }),
    tags: ({ amount }) => ({ amount }),
    steps: (step) => ({ agreed: step.approval('agree', { ask: () => 'Agree?' }) }),
  });

interface Report {
  readonly matched: number;
  readonly more: boolean;
  readonly done: readonly { readonly runId: string; readonly result: string }[];
  readonly refused: readonly { readonly runId: string; readonly code: string }[];
}

let stage: Stage;
beforeEach(() => {
  isBroken = true;
  stage = new Stage([order, asking('refund'), asking('loan')]);
});

async function started(type: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) ids.push((await stage.cairn(['runs', 'start', type])).out.trim());
  await stage.drive();
  return ids;
}

function statuses(): Promise<string[]> {
  const { runs } = stage.installation.world.db;
  return Promise.resolve([...runs.values()].map(({ snapshot }) => snapshot.status).sort());
}

describe('runs bulk', () => {
  test('resumes all failed runs of a workflow, and reports each new run', async () => {
    const ids = await started('order', 3);
    isBroken = false;
    const report = await stage.answer<Report>(['runs', 'bulk', 'resume', '--type', 'order', '--yes']);
    expect(report.done.map(({ runId }) => runId).sort()).toEqual([...ids].sort());
    expect(report.refused).toEqual([]);
    await stage.drive();
    expect(await statuses()).toEqual(['completed', 'completed', 'completed', 'failed', 'failed', 'failed']);
  });

  test('the same key after an interruption repeats nothing', async () => {
    await started('order', 2);
    isBroken = false;
    const words = ['runs', 'bulk', 'resume', '--type', 'order', '--yes', '--key', 'mend'];
    const first = await stage.answer<Report>(words);
    const second = await stage.answer<Report>(words);
    expect(second.done).toEqual(first.done);
    expect(stage.installation.world.db.runs.size).toBe(4);
  });

  test('continues after a run that refuses, with an exit code for that', async () => {
    const [first = ''] = await started('order', 3);
    isBroken = false;
    await stage.cairn(['runs', 'resume', first]);
    const { code, out } = await stage.cairn([
      'runs',
      'bulk',
      'resume',
      '--type',
      'order',
      '--status',
      'failed',
      '--yes',
    ]);
    expect(code).toBe(1);
    expect(out).toMatch(/^resume: 2 of 3 done$/m);
    expect(out).toMatch(/^ {2}RUN_TERMINAL_STATE \(1\): /m);
    expect(out).toContain(first);
  });

  test('cancels live runs only, with the reason in each journal', async () => {
    await started('order', 1);
    const waiting = await started('refund', 2);
    const report = await stage.answer<Report>([
      'runs',
      'bulk',
      'cancel',
      '--since',
      '1h',
      '--reason',
      'closed',
      '--yes',
    ]);
    expect(report.done.map(({ runId }) => runId).sort()).toEqual([...waiting].sort());
    for (const id of waiting) {
      const { events = [] } = stage.installation.world.db.runs.get(id) ?? {};
      expect(JSON.stringify(events)).toContain('closed');
    }
  });

  test('approves the questions of one workflow, and leaves those of others', async () => {
    await started('refund', 2);
    await started('loan', 1);
    const report = await stage.answer<Report>(['runs', 'bulk', 'approve', '--type', 'refund', '--yes']);
    expect(report.done.map(({ result }) => result)).toEqual(['approved', 'approved']);
    await stage.drive();
    expect(await statuses()).toEqual(['awaiting_approval', 'completed', 'completed']);
  });

  test('--dry-run lists what matches, and changes nothing', async () => {
    await started('refund', 2);
    const { out, code } = await stage.cairn([
      'runs',
      'bulk',
      'cancel',
      '--type',
      'refund',
      '--dry-run',
      '--limit',
      '1',
    ]);
    expect(code).toBe(0);
    expect(out.match(/^run_/gm)).toHaveLength(1);
    expect(out).toContain('More match');
    expect(await statuses()).toEqual(['awaiting_approval', 'awaiting_approval']);
  });

  test('changes the named runs, each once, by ids or their prefixes', async () => {
    const [first = '', second = '', other = ''] = await started('order', 3);
    const words = ['--run', first, '--run', second.slice(0, 12), '--run', first];
    const report = await stage.answer<Report>(['runs', 'bulk', 'replay', ...words, '--yes']);
    expect([report.matched, report.done.length]).toEqual([2, 2]);
    const { runs } = stage.installation.world.db;
    const sources = [...runs.values()].flatMap(({ snapshot }) => snapshot.source?.runId ?? []);
    expect(sources.sort()).toEqual([first, second].sort());
    expect(sources).not.toContain(other);
  });

  test.each([
    ['--match', 'amount>100'],
    ['--match', 'amount:2*'],
  ])('changes the runs that match by %s %s, and no others', async (...words) => {
    const ids: string[] = [];
    for (const amount of [50, 200, 250]) {
      const input = JSON.stringify({ amount });
      ids.push((await stage.cairn(['runs', 'start', 'loan', '--input', input])).out.trim());
    }
    await stage.drive();
    const [small, ...large] = ids;
    const change = async (action: string) => {
      const report = await stage.answer<Report>(['runs', 'bulk', action, ...words, '--yes']);
      await stage.drive();
      expect([action, report.more, report.refused]).toEqual([action, false, []]);
      return report.done.map(({ runId }) => runId).sort();
    };
    expect(await change('cancel')).toEqual(large.toSorted());
    expect(await change('resume')).toEqual(large.toSorted());
    expect(await change('approve')).toHaveLength(2);
    expect(await change('replay')).toHaveLength(4);
    expect(stage.installation.world.db.runs.get(String(small))?.snapshot.status).toBe('awaiting_approval');
  });

  test('approves the questions of a named run', async () => {
    const [first = '', second = ''] = await started('refund', 2);
    const report = await stage.answer<Report>(['runs', 'bulk', 'approve', '--run', first, '--yes']);
    expect(report.done).toEqual([{ runId: first, result: 'approved' }]);
    await stage.drive();
    const statusOf = (id: string) => stage.installation.world.db.runs.get(id)?.snapshot.status;
    expect([first, second].map(statusOf)).toEqual(['completed', 'awaiting_approval']);
  });

  test('asks before it changes anything', async () => {
    await started('refund', 1);
    const words = ['runs', 'bulk', 'cancel', '--type', 'refund'];
    const unasked = await stage.cairn(words);
    expect([unasked.code, unasked.out]).toEqual([1, '']);
    expect(unasked.err).toContain('--yes');
    expect((await stage.cairn(words, { answer: 'n' })).code).toBe(1);
    expect(await statuses()).toEqual(['awaiting_approval']);
    expect((await stage.cairn(words, { answer: 'y' })).code).toBe(0);
    await stage.drive();
    expect(await statuses()).toEqual(['cancelled']);
  });

  test.each([
    [['cancel', '--yes'], /no filter is given/],
    [['approve', '--since', '1h'], /approve selects with --type, --step, --match and --run only/],
    [['cancel', '--run', 'run_a', '--type', 'order'], /--run goes with no filter/],
    [['cancel', '--run', 'run_a', '--match', 'a>1'], /--run goes with no filter/],
    [['approve', '--run', 'run_a', '--match', 'a>1'], /--run goes with no --match/],
    [['cancel', ...Array(101).fill(['--run', 'run_a']).flat()], /at most 100/],
    [['resume', '--type', 'order', '--note', 'x'], /resume takes neither --step nor --note/],
    [['replay', '--type', 'order', '--reason', 'x'], /replay takes no --reason/],
    [['explode', '--type', 'order'], /explode/],
  ])('%j is refused before anything is sent', async (words, message) => {
    const { code, err } = await stage.cairn(['runs', 'bulk', ...words]);
    expect(code).toBe(2);
    expect(err).toMatch(message);
  });

  test('succeeds without a matching run', async () => {
    const { code, out } = await stage.cairn(['runs', 'bulk', 'resume', '--type', 'order', '--yes']);
    expect([code, out]).toEqual([0, 'Nothing matches: nothing to resume.\n']);
  });
});
