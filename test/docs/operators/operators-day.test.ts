import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { wordsOf } from '../../cli/support/said-in-docs.ts';
import { Stage } from '../../cli/support/stage.ts';
import { Outside } from '../../support/outside.ts';
import { readDocument } from '../snippets.ts';

const page = readDocument('docs/operations.md');

/** The command lines of a section, by block. */
function blocksOf(title: string): string[][] {
  const [, section = ''] = new RegExp(`^## ${title}\\n([\\s\\S]*?)(?=^##? )`, 'm').exec(page) ?? [];
  const blocks = [...section.matchAll(/^```\n([\s\S]*?)^```/gm)].map(([, code = '']) =>
    code.trim().split('\n'),
  );
  expect(blocks.length).toBeGreaterThan(0);
  return blocks;
}

interface Names {
  readonly run: string;
  readonly effect?: string;
}

/** Executes a line of the page. */
async function say(stage: Stage, line: string, { run, effect = '' }: Names) {
  const words = wordsOf(
    line
      .replace(/^cairn /, '')
      .replace(/\bRUN\b/, run)
      .replace(/\bEFFECT\b/, effect),
  );
  const output = await stage.cairn(words);
  return { ...output, line };
}

async function started(stage: Stage, type: string, input: object = {}): Promise<string> {
  const { code, out, err } = await stage.cairn(['runs', 'start', type, '--input', JSON.stringify(input)]);
  expect([code, err]).toEqual([0, '']);
  await stage.drive();
  return out.trim();
}

async function statusOf(stage: Stage, run: string): Promise<string> {
  return (await stage.answer<{ run: { status: string } }>(['runs', 'show', run])).run.status;
}

describe('with the lines of docs/operations.md alone an operator can resolve', () => {
  test('a run that is stuck because its event was lost', async () => {
    const stage = new Stage([
      defineWorkflow({
        type: 'deploy',
        planVersion: 1,
        input: z.object({ commit: z.string() }),
        steps: (step) => ({
          ci: step.event('ci', { event: 'ci-finished', key: ({ input }) => input.commit }),
        }),
      }),
    ]);
    const run = await started(stage, 'deploy', { commit: '4f2a91c' });
    const [[look = ''] = [], [send = ''] = [], [check = ''] = []] = blocksOf('A run that is stuck');
    expect(await say(stage, look, { run })).toMatchObject({
      code: 0,
      out: expect.stringMatching(/waiting_external[\s\S]*cairn events send ci-finished 4f2a91c/),
    });
    expect(await say(stage, check, { run })).toMatchObject({
      code: 0,
      out: expect.stringContaining('consistent'),
    });
    expect(await say(stage, send, { run })).toMatchObject({ code: 0, out: `delivered ${run}\n` });
    await stage.drive();
    expect(await statusOf(stage, run)).toBe('completed');
  });

  const resolutions = blocksOf('A side effect in doubt')[1] ?? [];
  test.each(resolutions.map((line) => [line]))('a side effect in doubt: %s', async (line) => {
    const outside = new Outside({ id: 'shop.pay' });
    const { capability } = outside;
    const pay = defineWorkflow({
      type: 'pay',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({
        paid: step('pay', { uses: [capability], retry: { maxAttempts: 3 } }, ({ perform }) =>
          perform(capability, { text: 'ten' }),
        ),
      }),
    });
    const stage = new Stage([pay], [outside.binding]);
    outside.faults.push('lose_answer');
    const run = await started(stage, 'pay');
    expect([await statusOf(stage, run), outside.applied.length]).toEqual(['awaiting_approval', 1]);
    const [look = [], says = []] = blocksOf('A side effect in doubt');
    expect(says).toContain(line);
    const seen = [];
    for (const one of look) seen.push(await say(stage, one, { run }));
    expect(seen.map(({ code }) => code)).toEqual([0, 0]);
    const { items } = JSON.parse(seen[1]?.out ?? '') as { items: { effectId: string; request: unknown }[] };
    expect(items.map(({ request }) => request)).toEqual([{ text: 'ten' }]);
    const [{ effectId: effect } = { effectId: '' }] = items;
    expect(seen[0]?.out).toContain(`cairn effects resolve ${run} ${effect} recorded `);

    // The page shows a result of another shop; this one numbers its payments.
    const nobody = await say(stage, line, { run, effect: '0zz' });
    expect([nobody.code, nobody.err]).toEqual([
      3,
      expect.stringContaining("no effect of the run begins with '0zz'"),
    ]);
    const output = await say(stage, line.replace('{"id":"pay_1"}', '{"id":1}'), {
      run,
      effect: `${effect.slice(0, 11)}…`,
    });
    expect([output.code, output.err]).toEqual([0, '']);
    await stage.drive();
    const outcome = wordsOf(line)[5];
    expect([outcome, await statusOf(stage, run), outside.applied.length]).toEqual(
      {
        recorded: ['recorded', 'completed', 1],
        're-execute': ['re-execute', 'completed', 2],
        failed: ['failed', 'failed', 1],
      }[outcome ?? ''],
    );
  });

  test('a deployment without a version that runs need: restored or abandoned', async () => {
    const version = (planVersion: number): Workflow =>
      defineWorkflow({
        type: 'review-pull-request',
        planVersion,
        input: z.object({}),
        steps: (step) => ({ done: step('do', () => planVersion) }),
      });
    const stage = new Stage([version(1)]);
    const start = ['runs', 'start', 'review-pull-request'];
    // Deploys before an attempt has claimed the runs.
    const back = (await stage.cairn(start)).out.trim();
    const away = (await stage.cairn(start)).out.trim();
    stage.deploy([version(2)]);
    const { world } = stage.installation;
    const isBlocked = () =>
      [...world.db.runs.values()].every(({ snapshot }) => snapshot.parked !== undefined);
    await stage.driveUntil(isBlocked);

    const [looks = [], [resume = ''] = [], [cancel = '', preview = '', fork = ''] = []] = blocksOf(
      'A deployment that left a version out',
    );
    const seen = [];
    for (const line of looks) seen.push(await say(stage, line, { run: back }));
    expect(seen.map(({ code }) => code)).toEqual([7, 0]);
    expect(seen[0]?.out).toContain('2 live runs are on review-pull-request v1, which is not deployed');

    for (const line of [cancel, preview, fork]) {
      const output = await say(stage, line, { run: away });
      expect([line, output.code, output.err]).toEqual([line, 0, '']);
    }
    stage.deploy([version(1), version(2)]);
    expect(await say(stage, resume, { run: back })).toMatchObject({
      err: '',
      code: 0,
      out: `${back} resumed\n`,
    });
    await stage.driveUntil(() =>
      [...world.db.runs.values()].every(({ snapshot }) => snapshot.completedAt !== undefined),
    );
    expect(await statusOf(stage, back)).toBe('completed');
    const { items } = await stage.answer<{ items: { planVersion: number; status: string }[] }>([
      'runs',
      'list',
    ]);
    expect(items.map(({ planVersion, status }) => `v${planVersion} ${status}`).toSorted()).toEqual([
      'v1 cancelled',
      'v1 completed',
      'v2 completed',
    ]);
  });

  test('a run document that differs from its journal', async () => {
    const stage = new Stage();
    const run = await started(stage, 'echo', { text: 'hello' });
    const documents = stage.installation.world.db.runs.get(run);
    if (!documents) throw new Error('no run');
    documents.snapshot = { ...documents.snapshot, status: 'failed', resumeCount: 7 };
    const [lines = []] = blocksOf('A run document that drifted');
    const codes = [];
    for (const line of lines) codes.push((await say(stage, line, { run })).code);
    expect(codes).toEqual([7, 7, 0]);
    expect(await say(stage, lines[0] ?? '', { run })).toMatchObject({ code: 0 });
    expect(await say(stage, lines[2] ?? '', { run })).toMatchObject({
      code: 0,
      out: expect.stringContaining('sound'),
    });
    expect(await statusOf(stage, run)).toBe('completed');
    expect((await stage.cairn(['runs', 'show', run])).out).toContain('✎ repaired SNAPSHOT_DIFFERENT');
  });

  test('a workflow that does harm', async () => {
    const review = defineWorkflow({
      type: 'review-pull-request',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({ signed: step.approval('sign-off', { ask: () => 'Merge?' }) }),
    });
    const stage = new Stage([review]);
    const run = await started(stage, 'review-pull-request');
    const [lines = []] = blocksOf('A workflow that does harm');
    for (const line of lines) {
      const output = await say(stage, line, { run });
      expect([line, output.code, output.err]).toEqual([line, 0, '']);
    }
    expect(await statusOf(stage, run)).toBe('cancelled');
  });
});

test('the first lines of the page work on a healthy installation', async () => {
  const stage = new Stage();
  await started(stage, 'echo', { text: 'hello' });
  const [, block = ''] = /^Start with:\n\n```\n([\s\S]*?)^```/m.exec(page) ?? [];
  const lines = block.trim().split('\n');
  expect(lines.length).toBe(3);
  for (const line of lines) expect([line, (await say(stage, line, { run: 'last' })).code]).toEqual([line, 0]);
});
