import { beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { Stage } from '../support/stage.ts';

/** State of the receiver of the second step; fixed during the test. */
const outside = { isBroken: true };

const report = defineWorkflow({
  type: 'report',
  planVersion: 1,
  input: z.object({ day: z.string() }),
  steps(step) {
    const read = step('read', ({ input }) => input.day.length);
    const send = step('send', { needs: { read }, retry: { maxAttempts: 1 } }, ({ read }) => {
      if (outside.isBroken) throw new Error('no route');
      return read;
    });
    return { send };
  },
});

let stage: Stage;
let failed: string;
beforeAll(async () => {
  stage = new Stage([report]);
  failed = (await stage.cairn(['runs', 'start', 'report', '--input', '{"day":"Monday"}'])).out.trim();
  await stage.drive();
});

test('a failed run is inspected, resumed after its cause is fixed, replayed and forked', async () => {
  const foretold = await stage.cairn(['runs', 'preview', failed, 'resume']);
  expect(foretold.code).toBe(0);
  expect(foretold.out).toContain(`resume of ${failed} would start a new run on v1`);
  expect(foretold.out).toMatch(new RegExp(`read +reused +${failed} checkpoint \\d+\\nsend +runs +failed`));

  outside.isBroken = false;
  const resume = ['runs', 'resume', failed, '--key', 'mended'];
  const resumed = await stage.cairn(resume);
  expect(await stage.cairn(resume)).toEqual(resumed);
  const id = resumed.out.trim();
  await stage.drive();
  const page = (await stage.cairn(['runs', 'show', id])).out;
  expect(page).toContain('report v1 completed in');
  expect(page).toContain(`source      ${failed} (resume`);
  expect(page).toMatch(new RegExp(`= read reused from ${failed}`));
  expect((await stage.cairn(['runs', 'show', failed])).out).toContain(`continued   ${id}`);

  const again = await stage.cairn(['runs', 'resume', failed]);
  expect([again.code, again.err]).toEqual([1, expect.stringContaining(id)]);
  const blocked = await stage.cairn(['runs', 'preview', failed, 'resume']);
  expect([blocked.code, blocked.out]).toEqual([1, expect.stringContaining('Obstacles')]);

  const replayed = (await stage.cairn(['runs', 'replay', id, '--from-step', 'send'])).out.trim();
  await stage.drive();
  expect((await stage.cairn(['runs', 'watch', replayed])).code).toBe(0);

  const forked = await stage.cairn(['runs', 'fork', id, '--input', '{"day":"Tuesday"}']);
  expect([forked.code, forked.err]).toEqual([0, '']);
  await stage.drive();
  const { run } = await stage.answer<{ run: { result: unknown } }>(['runs', 'show', forked.out.trim()]);
  expect(run.result).toEqual({ send: 7 });
  const same = await stage.cairn(['runs', 'fork', id, '--thread', 'other']);
  expect([same.code, same.err]).toEqual([0, '']);
});

test('unread signals are listed, and carried over on request', async () => {
  outside.isBroken = true;
  const id = (await stage.cairn(['runs', 'start', 'report', '--input', '{"day":"Friday"}'])).out.trim();
  await stage.cairn(['runs', 'signal', id, 'weather', '--data', '"rain"']);
  await stage.drive();
  outside.isBroken = false;
  expect((await stage.cairn(['runs', 'show', id])).out).toMatch(/Unread signals\n\n *SIGNAL.*\n *weather/);
  const foretold = (await stage.cairn(['runs', 'preview', id, 'resume'])).out;
  expect(foretold).toMatch(/Unread signals \(--carry-signals carries them over\)\n\n *SIGNAL.*\n *weather/);
  const resumed = (await stage.cairn(['runs', 'resume', id, '--carry-signals'])).out.trim();
  await stage.drive();
  const { run } = await stage.answer<{ run: { inbox: object[] } }>(['runs', 'show', resumed]);
  expect(run.inbox).toMatchObject([{ name: 'weather', payload: 'rain' }]);
});

test.each([
  [['runs', 'resume', 'last', '--from-step', 'a', '--from-checkpoint', '3'], 2],
  [['runs', 'preview', 'last', 'resume', '--plan-version', '2'], 2],
  [['runs', 'preview', 'last', 'rewind'], 2],
  [['runs', 'resume', 'run_no'], 3],
])('%j exits with %d', async (words, code) => {
  expect((await stage.cairn(words)).code).toBe(code);
});

test('only an admin can override the policy', async () => {
  expect((await stage.cairn(['runs', 'replay', failed, '--force'], { role: 'operator' })).code).toBe(5);
});
