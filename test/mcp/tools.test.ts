import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineBinding, defineCapability } from '../../packages/cairn/src/engine/define/capability.ts';
import { defineWorkflow } from '../../packages/cairn/src/engine/define/workflow.ts';
import { Stage } from '../cli/support/stage.ts';
import { Agent, type Answered } from './agent.ts';

const review = defineWorkflow({
  type: 'review',
  planVersion: 2,
  input: z.object({ pull: z.number() }),
  steps(step) {
    const size = step('size', ({ input }) => ({ lines: input.pull * 10 }));
    const ask = step.approval('sign-off', { needs: { size }, ask: ({ input }) => `Merge #${input.pull}?` });
    return { done: step('merge', { needs: { ask } }, () => 'merged') };
  },
});
const payment = defineCapability({
  id: 'bank.pay',
  sideEffects: 'external_action',
  idempotency: 'not_supported',
  request: z.object({ cents: z.number() }),
  response: z.object({ id: z.string() }),
});
const bank = defineBinding(payment, {
  id: 'bank',
  call: async () => {
    throw new Error('the connection closed');
  },
});
const pay = defineWorkflow({
  type: 'pay',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({
    sent: step('send', { uses: [payment] }, ({ perform }) => perform(payment, { cents: 5 })),
  }),
});
const START = { type: 'review', input: { pull: 7 } };
const ANSWER = { step: 'sign-off', decision: 'approve', note: 'looked at it' };

async function scene(role: 'viewer' | 'submitter' | 'operator' = 'operator') {
  const stage = new Stage([review]);
  return { stage, agent: await Agent.of(stage, { role }) };
}

/** Starts a run that asks a question. */
async function asking(stage: Stage, agent: Agent): Promise<string> {
  const { data } = await agent.act('start_run', START);
  await stage.drive();
  return data.runId as string;
}

const codeOf = ({ isError, data }: Answered) => (isError ? data.error.code : 'no error');

test('an agent starts a run, reads its question, answers, and sees it end', async () => {
  const { stage, agent } = await scene();
  const runId = await asking(stage, agent);
  const questions = await agent.call('list_questions');
  expect(questions.text).toContain(`${runId} sign-off: Merge #7? (approve`);
  const explained = await agent.call('get_run', { runId });
  expect(explained.text).toContain('review v2 awaiting_approval: Step sign-off waits for approval.');
  expect(explained.text).toContain('question: Merge #7?');
  expect(explained.data).toMatchObject({ run: { id: runId, input: { pull: 7 } }, more: { steps: false } });
  expect(explained.data.newestEvents.at(-1)).toMatchObject({ seq: explained.data.run.head });

  const preview = await agent.call('preview_decide', { runId, ...ANSWER });
  expect(preview.text).toContain(`Would answer approve to sign-off of review ${runId}: Merge #7?`);
  expect((await stage.answer<{ items: unknown[] }>(['inbox'])).items).toHaveLength(1);
  const decided = await agent.call('decide', { runId, ...ANSWER, token: preview.data.token });
  expect(decided).toMatchObject({ isError: false, data: { decision: 'approve', waitId: 'sign-off.1' } });
  await stage.drive();
  expect((await agent.call('list_runs', { status: ['completed'] })).data.items).toMatchObject([
    { id: runId, status: 'completed' },
  ]);
});

test('runs are listed by a prefix, and in orders other than newest first', async () => {
  const { stage, agent } = await scene();
  const first = await asking(stage, agent);
  stage.installation.world.clock.jump(1_000);
  const second = await asking(stage, agent);
  const listed = async (filter: Record<string, string>) => {
    const { data } = await agent.call('list_runs', filter);
    return (data.items as { readonly id: string }[]).map(({ id }) => id);
  };
  expect(await listed({})).toEqual([second, first]);
  expect(await listed({ sort: 'oldest' })).toEqual([first, second]);
  expect(await listed({ match: `${second}*` })).toEqual([second]);
  expect(await listed({ match: `${second}*`, sort: 'longest' })).toEqual([second]);
  expect(codeOf(await agent.call('list_runs', { match: '*' }))).toBe('INVALID_INPUT');
  const refused = await agent.call('list_runs', { sort: 'fastest' });
  expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining('sort')]);
});

test('a failed or cancelled run is resumed after its preview', async () => {
  const { stage, agent } = await scene();
  const runId = await asking(stage, agent);
  const cancelled = await agent.act('cancel_run', { runId, reason: 'not today' });
  expect(cancelled.text).toBe(`${runId} is cancelled.`);
  const preview = await agent.call('preview_resume_run', { runId });
  expect(preview.text).toContain('Would start a new run on v2. Steps that run: sign-off, merge.');
  const resumed = await agent.call('resume_run', { runId, token: preview.data.token });
  expect(resumed.text).toMatch(/^Started run_\w{26}, which continues/);
  expect(codeOf(await agent.call('cancel_run', { runId, reason: 'x', token: 'none' }))).toBe('TOKEN_INVALID');
  const ended = await agent.call('preview_cancel_run', { runId, reason: 'again' });
  expect(ended.data).toMatchObject({ blockers: [{ code: 'RUN_TERMINAL_STATE' }] });
  expect(ended.data.token).toBeUndefined();
});

test('an effect in doubt is resolved after its preview, and not by a decision', async () => {
  const stage = new Stage([pay], [bank]);
  const agent = await Agent.of(stage);
  const { runId } = (await agent.act('start_run', { type: 'pay' })).data;
  await stage.drive();
  const [question] = (await agent.call('list_questions')).data.items;
  expect(question).toMatchObject({ runId, kind: 'effect_in_doubt', step: 'send' });
  expect((await agent.call('get_run', { runId })).text).toMatch(/question: .*the outcome is unknown/);
  const decision = await agent.call('preview_decide', { runId, step: 'send', decision: 'approve' });
  expect(decision.data.blockers).toMatchObject([{ code: 'EFFECT_IN_DOUBT' }]);
  const said = { runId, effectId: question.effectId, outcome: 'recorded', result: { id: 'pay_1' } };
  const preview = await agent.call('preview_resolve_effect', said);
  expect(preview.text).toContain('Would resolve bank.pay of step send');
  expect(preview.data.preview.effect).toMatchObject({ request: { cents: 5 } });
  const resolved = await agent.call('resolve_effect', { ...said, token: preview.data.token });
  expect(resolved.data).toMatchObject({ outcome: 'recorded' });
  await stage.drive();
  expect((await agent.call('get_run', { runId })).data.run).toMatchObject({
    status: 'completed',
    result: { sent: { id: 'pay_1' } },
  });
  expect(codeOf(await agent.call('resolve_effect', { ...said, token: preview.data.token }))).toBe(
    'EFFECT_RESOLVED',
  );
  const again = await agent.call('preview_resolve_effect', said);
  expect(again.data).toMatchObject({ blockers: [{ code: 'EFFECT_RESOLVED' }] });
  expect(again.data.token).toBeUndefined();
});

describe('an act is refused', () => {
  test('without the token of a preview, and with one of other arguments, another action or another server', async () => {
    const { stage, agent } = await scene();
    const runId = await asking(stage, agent);
    const { token } = (await agent.call('preview_decide', { runId, ...ANSWER })).data;
    const other = await Agent.of(stage, { secret: 'of another caller' });
    const refused = [
      await agent.call('decide', { runId, ...ANSWER, token: 'looks good' }),
      await agent.call('decide', { runId, ...ANSWER, decision: 'reject', token }),
      await agent.call('decide', { runId, ...ANSWER, note: 'another', token }),
      await agent.call('cancel_run', { runId, reason: 'x', token }),
      await other.call('decide', { runId, ...ANSWER, token }),
    ];
    expect(refused.map(codeOf)).toEqual(['TOKEN_INVALID', ...Array(4).fill('TOKEN_MISMATCH')]);
    expect(refused[1]?.data.error).toMatchObject({
      field: 'token',
      help: expect.stringContaining('preview_decide'),
    });
    expect((await agent.call('decide', { runId, ...ANSWER })).isError).toBe(true);
    expect((await agent.call('get_run', { runId })).data.run.status).toBe('awaiting_approval');
  });

  test('when the state has changed since the preview', async () => {
    const { stage, agent } = await scene();
    const runId = await asking(stage, agent);
    const { token } = (await agent.call('preview_cancel_run', { runId, reason: 'late' })).data;
    await agent.act('decide', { runId, ...ANSWER, decision: 'retry_with_feedback', feedback: 'smaller' });
    await stage.drive();
    const refused = await agent.call('cancel_run', { runId, reason: 'late', token });
    expect(refused.data.error).toMatchObject({
      code: 'STATE_CHANGED',
      // The earlier call, whose answer was lost, may have made the change.
      detail: expect.stringMatching(/or by an earlier call with this token\. This call did nothing\.$/),
    });
    expect((await agent.call('get_run', { runId })).data.run.status).toBe('awaiting_approval');
  });

  test('when the preview is older than a quarter of an hour', async () => {
    const stage = new Stage([review]);
    let now = 1_000_000;
    const agent = await Agent.of(stage, { now: () => now });
    const { token } = (await agent.call('preview_start_run', START)).data;
    now += 15 * 60_000;
    expect(codeOf(await agent.call('start_run', { ...START, token }))).toBe('TOKEN_EXPIRED');
  });

  test('by the API where the role does not allow it, with its code, field and help', async () => {
    const { stage, agent } = await scene('viewer');
    const refused = await agent.act('start_run', START);
    expect(refused.data.error).toMatchObject({ code: 'FORBIDDEN', status: 403, help: expect.any(String) });
    expect(refused.text).toContain('FORBIDDEN');
    expect(stage.installation.world.db.runs.size).toBe(0);
    const operator = await Agent.of(stage);
    const runId = await asking(stage, operator);
    const submitter = await Agent.of(stage, { role: 'submitter' });
    expect(codeOf(await submitter.call('preview_resume_run', { runId }))).toBe('FORBIDDEN');
    expect(codeOf(await submitter.act('decide', { runId, ...ANSWER }))).toBe('FORBIDDEN');
    expect(codeOf(await agent.act('cancel_run', { runId, reason: 'x' }))).toBe('FORBIDDEN');
  });
});

test('one token starts one run however often it is sent, and a second preview starts a second one', async () => {
  const { stage, agent } = await scene();
  const { token } = (await agent.call('preview_start_run', START)).data;
  const first = await agent.call('start_run', { ...START, token });
  // In another order of members.
  const again = await agent.call('start_run', { token, input: START.input, type: START.type });
  expect(again.data.runId).toBe(first.data.runId);
  expect((await agent.act('start_run', START)).data.runId).not.toBe(first.data.runId);
  expect(stage.installation.world.db.runs.size).toBe(2);
});

test('a preview of a start names what is wrong with the input, and gives no token', async () => {
  const { agent } = await scene();
  const { data, text } = await agent.call('preview_start_run', { type: 'review', input: { pull: 'seven' } });
  expect(data).toMatchObject({ blockers: [{ code: 'INVALID_INPUT', field: 'input.pull' }] });
  expect(data.token).toBeUndefined();
  expect(text).toContain('start_run would be refused');
  expect(codeOf(await agent.call('preview_start_run', { type: 'nothing' }))).toBe('NOT_FOUND');
});

describe('a preview of a start shows what stops the run:', () => {
  const since = 0;
  const pause = new Map([['review', { since, by: 'c.ops', reason: 'wrong labels' }]]);
  const restore = { at: since, by: 'system', isPaused: true };
  test.each([
    ['nothing', {}, ''],
    [
      'a pause of its workflow',
      { paused: pause },
      ' Workflow review is paused. Its runs wait until it is unpaused.',
    ],
    [
      'a restore, whatever else is paused',
      { paused: pause, restore },
      ' The database was restored: no run of any tenant moves until it is released.',
    ],
    ['nothing after a release', { restore: { ...restore, isPaused: false } }, ''],
    [
      'the kill switch, before all others',
      { paused: pause, restore, killSwitch: true },
      ' The kill switch is on: no run of any tenant moves until it is off.',
    ],
  ])('%s', async (_what, config, expected) => {
    const { stage, agent } = await scene();
    const { world } = stage.installation;
    const known = await world.config.read();
    await world.config.write({ killSwitch: false, paused: new Map(), ...config }, known?.version);
    const { text } = await agent.call('preview_start_run', START);
    const [said] = text.split('\n');
    expect(said).toBe(`Would start review v2 with 3 steps.${expected}`);
  });
});

test('a missing resource is named with advice', async () => {
  const { stage, agent } = await scene();
  const runId = await asking(stage, agent);
  expect(codeOf(await agent.call('get_run', { runId: `run_${'a'.repeat(26)}` }))).toBe('RUN_NOT_FOUND');
  expect((await agent.call('preview_decide', { runId, ...ANSWER, step: 'size' })).data.error).toMatchObject({
    code: 'NO_SUCH_QUESTION',
    field: 'step',
  });
  const effect = { runId, effectId: `${'0'.repeat(64)}.0001`, outcome: 'failed' };
  expect((await agent.call('preview_resolve_effect', effect)).data.error).toMatchObject({
    field: 'effectId',
  });
  const wrong = await agent.call('list_runs', { state: 'failed' });
  expect([wrong.isError, wrong.text]).toEqual([true, expect.stringContaining('state')]);
});

test('each problem of an input is a separate blocker with its field', async () => {
  const graded = defineWorkflow({
    type: 'graded',
    planVersion: 1,
    input: z.object({ pull: z.number(), notes: z.object({ by: z.string() }) }),
    steps: (step) => ({ one: step('one', () => 1) }),
  });
  const agent = await Agent.of(new Stage([graded]));
  const input = { pull: 'data must', notes: { by: 1 } };
  const { data } = await agent.call('preview_start_run', { type: 'graded', input });
  expect(
    data.blockers.map(({ field, detail }: { field: string; detail: string }) => [field, detail]),
  ).toEqual([
    ['input.pull', 'must be number'],
    ['input.notes.by', 'must be string'],
  ]);
});

test('a change whose answer was lost is repeated safely with the same token', async () => {
  const stage = new Stage([review]);
  let isLost = true;
  const agent = await Agent.of(stage, {
    after: (url, { method }) => {
      if (isLost && method === 'POST' && url.endsWith('/v1/runs')) throw new TypeError('socket closed');
    },
  });
  const { data: preview } = await agent.call('preview_start_run', START);
  const lost = await agent.call('start_run', { ...START, token: preview.token });
  expect(lost.data.error).toMatchObject({ code: 'UNREACHABLE', mayHaveActed: true });
  expect(lost.text).toContain('Call the tool again with the same token');
  isLost = false;
  const again = await agent.call('start_run', { ...START, token: preview.token });
  expect((await agent.call('list_runs')).data.items).toMatchObject([{ id: again.data.runId }]);
});

test('tools state whether they change something, and every change has a preview', async () => {
  const { agent } = await scene();
  const { tools } = await agent.client.listTools();
  const names = tools.map(({ name }) => name);
  const changing = tools.filter(({ annotations }) => annotations?.readOnlyHint === false);
  expect(changing.map(({ name }) => name)).toEqual([
    'start_run',
    'resume_run',
    'decide',
    'resolve_effect',
    'cancel_run',
  ]);
  for (const { name, inputSchema } of changing) {
    expect(names).toContain(`preview_${name}`);
    expect(inputSchema.required).toContain('token');
  }
});

test('long questions are truncated in the text of an answer, and the token of the preview is not', async () => {
  const long = defineWorkflow({
    type: 'long',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({ asked: step.approval('sign-off', { ask: () => 'x'.repeat(12_000) }) }),
  });
  const stage = new Stage([long]);
  const agent = await Agent.of(stage);
  const { runId } = (await agent.act('start_run', { type: 'long' })).data;
  await stage.drive();
  const { text, data } = await agent.call('preview_decide', { runId, ...ANSWER });
  expect(text.length).toBeLessThan(10_000);
  expect(text).toContain(data.token);
});
