import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { Answer } from '../../packages/cairn/src/api/openapi/calls.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { PLAIN } from '../../packages/cli/src/render/style.ts';
import { answerLines, inboxTable } from '../../packages/cli/src/views/inbox.ts';
import { release, Scene } from '../operations/approvals/scene.ts';
import { Stage } from './support/stage.ts';

const NOW = Date.parse('2026-03-01T00:00:00.000Z');
const SHAPE = { style: PLAIN, columns: undefined };

type Item = Answer<'InboxPage'>['items'][number];
const item = (some: Partial<Item>): Item => ({
  runId: 'run_a',
  type: 'deploy',
  status: 'awaiting_approval',
  threadId: 'th',
  kind: 'approval',
  step: 'sign-off',
  waitId: 'sign-off.1',
  question: 'Ship it?',
  openedAt: '2026-02-28T23:00:00.000Z',
  answers: ['approve', 'approve_with_waiver', 'retry_with_feedback', 'reject', 'halt'],
  ...some,
});

describe('the inbox on a terminal', () => {
  test('shows the question of each run, since when, and until when', () => {
    const items = [
      item({ dueAt: '2026-03-02T00:00:00.000Z' }),
      item({ runId: 'run_b', kind: 'left_in_doubt' }),
    ];
    expect(inboxTable(items, NOW, SHAPE).split('\n').slice(1, 3)).toEqual([
      '1 h ago  run_a  deploy    sign-off  approval       2026-03-02 00:00:00 UTC  Ship it?',
      '1 h ago  run_b  deploy    sign-off  left in doubt                           Ship it?',
    ]);
  });

  test.each<[string, Partial<Item>, string]>([
    ['an approval', {}, 'cairn runs approve run_a sign-off   (or waive, send-back, reject, halt)'],
    [
      'one whose step has a name that a shell would take apart',
      { step: 'files[a b]', answers: ['approve', 'reject'] },
      "cairn runs approve run_a 'files[a b]'   (or reject)",
    ],
    [
      'a step in doubt, with what each answer means',
      { kind: 'step_in_doubt', answers: ['approve', 'approve_with_waiver', 'reject', 'halt'] },
      'cairn runs approve run_a sign-off   (runs it again; waive: it is done; reject: it fails; halt: the run ends)',
    ],
    [
      'an effect in doubt',
      { kind: 'effect_in_doubt', effectId: 'e.0001', answers: ['recorded', 're-execute', 'failed'] },
      'cairn effects resolve run_a e.0001 recorded|re-execute|failed',
    ],
    [
      'what was left in doubt',
      { kind: 'left_in_doubt', effectId: 'e.0001', answers: ['recorded', 'failed', 'resume'] },
      'cairn effects resolve run_a e.0001 recorded|failed   (or cairn runs resume run_a)',
    ],
    [
      'what a completed run left in doubt',
      { kind: 'left_in_doubt', effectId: 'e.0001', answers: ['recorded', 'failed'] },
      'cairn effects resolve run_a e.0001 recorded|failed',
    ],
    ['what nobody can answer now', { answers: [] }, 'cairn runs show run_a   (nothing can be answered now)'],
    [
      'the last of many',
      { answers: ['approve', 'reject'], more: 3 },
      'cairn runs approve run_a sign-off   (or reject)   (and 3 more: cairn runs show run_a)',
    ],
  ])('prints the command for %s', (_name, some, line) => {
    expect(answerLines([item(some)])).toBe(`\n${line}\n`);
  });
});

test('an open question is listed, answered with the printed command, and no longer listed', async () => {
  const stage = new Stage([release()]);
  const { world } = stage.installation;
  expect(await stage.cairn(['inbox'], { role: 'viewer' })).toMatchObject({
    code: 0,
    out: '',
    err: 'No open questions.\n',
  });
  const { runId } = await Scene.asking({ world });
  const { out } = await stage.cairn(['inbox'], { role: 'viewer' });
  const [, words = ''] = /^cairn (.*?) {3}\(or/m.exec(out) ?? [];
  expect(words).toBe(`runs approve ${runId} gate`);
  expect((await stage.cairn([...words.split(' ')], { role: 'operator' })).code).toBe(0);
  const { items } = JSON.parse((await stage.cairn(['inbox', '--json'])).out) as { items: unknown[] };
  expect(items).toEqual([]);
});

test('a run whose version is not deployed is shown with its question and without a command that would be refused', async () => {
  const stage = new Stage([release()]);
  const { runId } = await Scene.asking({ world: stage.installation.world });
  const approve = `runs approve ${runId}`;
  expect((await stage.cairn(['runs', 'show', runId])).out).toContain(approve);
  stage.deploy([]);
  const { out } = await stage.cairn(['runs', 'show', runId]);
  expect(out).toContain('Go on?');
  expect(out).toContain('no decision is accepted');
  expect(out).not.toContain(approve);
});

test('an approval that takes data is shown with who is asked, and answered with --data', async () => {
  const refund = defineWorkflow({
    type: 'refund',
    planVersion: 1,
    input: z.unknown(),
    steps(step) {
      const agreed = step.approval('agree', {
        ask: () => ({ question: 'Refund?', to: ['Finance', 'Bo'] }),
        data: z.object({ cents: z.number() }),
      });
      return { said: step('say', { needs: { agreed } }, ({ agreed }) => agreed.data) };
    },
  });
  const stage = new Stage([refund]);
  const id = (await stage.cairn(['runs', 'start', 'refund'])).out.trim();
  await stage.drive();
  const inbox = await stage.cairn(['inbox']);
  expect(inbox.out).toContain('Finance, Bo');
  expect(inbox.out).toContain(`runs approve ${id} agree --data JSON`);
  expect((await stage.cairn(['runs', 'show', id])).out).toContain('Refund? (asked: Finance, Bo)');
  const wrong = await stage.cairn(['runs', 'approve', id, '--data', '{"cents":"4"}'], { role: 'operator' });
  expect([wrong.code === 0, wrong.err]).toEqual([false, expect.stringContaining('data.cents')]);
  const noJson = await stage.cairn(['runs', 'approve', id, '--data', '{cents'], { role: 'operator' });
  expect(noJson.err).toContain('--data is not valid JSON');
  expect(
    (await stage.cairn(['runs', 'approve', id, '--data', '{"cents":4}'], { role: 'operator' })).code,
  ).toBe(0);
  await stage.drive();
  const { run } = await stage.answer<{ run: { result: unknown } }>(['runs', 'show', id]);
  expect(run.result).toEqual({ said: { cents: 4 } });
});

test('runs are found by a delivery id, pull request or other known name', async () => {
  const stage = new Stage();
  const id = (
    await stage.cairn(['runs', 'start', 'echo', '--input', '{"text":"x"}', '--key', 'build-7'])
  ).out.trim();
  const { out, code } = await stage.cairn(['runs', 'search', 'build-7'], { role: 'viewer' });
  expect([code, out]).toEqual([0, expect.stringMatching(new RegExp(`^BY .*\\nidempotency key +${id} `))]);
  const none = await stage.cairn(['runs', 'search', 'build-8']);
  expect([none.code, none.out, none.err]).toEqual([0, '', 'No run found.\n']);
});
