import { describe, expect, test } from '@jest/globals';
import { readableValue } from '../../../packages/cairn/src/core/run/readable.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { type ApprovalWait, approvalBlocks } from '../../../packages/cairn/src/triggers/slack/blocks.ts';
import { HOUR_MS, Scene } from '../../operations/approvals/scene.ts';
import { intercept } from '../../support/intercept.ts';
import { actionOf, pressOf, SlackEndpoint } from './endpoint.ts';

interface Stage {
  readonly scene: Scene;
  readonly endpoint: SlackEndpoint;
  /** Button values of the open question, by decision. */
  readonly values: Readonly<Record<string, string>>;
}

async function stage(make: () => Promise<Scene> = () => Scene.asking()): Promise<Stage> {
  const scene = await make();
  scene.tasks();
  const [wait] = scene.state.waits;
  if (!wait) throw new Error('nothing is asked');
  const shown = readableValue(wait) as unknown as ApprovalWait;
  const blocks = approvalBlocks({ runId: scene.runId, type: 'release', wait: shown });
  const buttons = blocks.flatMap((block) => (block.type === 'actions' ? block.elements : []));
  const values = Object.fromEntries(buttons.map(({ action_id, value }) => [action_id.slice(13), value]));
  return { scene, endpoint: new SlackEndpoint([scene.workflow], scene.world), values };
}

const grown = ({ scene }: Stage, before: number) => scene.state.head - before;

describe('a press', () => {
  test.each([
    ['approve', 'Approved', 'running', 1],
    // The dispatch that follows fails the run.
    ['reject', 'Rejected', 'running', 1],
    ['halt', 'Halted', 'cancelled', 0],
  ])(
    'of %s decides as the person who pressed, and replaces the question',
    async (decision, word, status, drives) => {
      const { scene, endpoint, values } = await stage();
      const response = await endpoint.press(values[decision]);
      expect(response).toEqual({
        response_type: 'ephemeral',
        replace_original: true,
        text: `${word} by <@U1>: \`gate\` of run \`${scene.runId}\`.`,
      });
      expect(scene.state.status).toBe(status);
      expect(scene.state.decisions).toMatchObject([{ stepId: 'gate', decision, actor: 's.T1.U1' }]);
      expect(scene.tasks()).toBe(drives);
    },
  );

  test('again, or by another person with the same decision, names the first person and writes nothing', async () => {
    const at = await stage();
    const { scene, endpoint, values } = at;
    const first = await endpoint.press(values.approve);
    const { head } = scene.state;
    expect(await endpoint.press(values.approve)).toEqual(first);
    expect(await endpoint.press(values.approve, { user: { id: 'U2', team_id: 'T1' } })).toEqual(first);
    expect(grown(at, head)).toBe(0);
  });

  test('by many at once is decided once, and all get the same answer', async () => {
    const { scene, endpoint, values } = await stage();
    const presses = Array.from({ length: 20 }, (_, i) =>
      endpoint.press(values.approve, { user: { id: `U${i}`, team_id: 'T1' } }),
    );
    const texts = (await Promise.all(presses)).map(({ text }) => text);
    expect(new Set(texts).size).toBe(1);
    expect(scene.state.decisions).toHaveLength(1);
  });

  test('after a decision through the API names who decided', async () => {
    const { scene, endpoint, values } = await stage();
    await scene.decide('approve', { actor: 'c.ada' });
    expect((await endpoint.press(values.approve)).text).toMatch(/^Approved by `c\.ada`: `gate`/);
  });

  test('of a question about a step in doubt runs it again', async () => {
    const { scene, endpoint, values } = await stage(() => Scene.inDoubt());
    expect((await endpoint.press(values.approve)).text).toMatch(/^Approved by <@U1>: `push`/);
    expect(scene.state.steps.get('push')?.phase).toBe('retrying');
  });
});

describe('a button press without effect gets a text response, leaves the question open, and writes nothing', () => {
  interface Case {
    readonly why: string;
    readonly words: RegExp;
    readonly before?: (stage: Stage) => unknown;
    /** Changes of the button's value. */
    readonly value?: object;
    /** Changes of Slack's payload. */
    readonly more?: object;
  }
  const cases: readonly Case[] = [
    {
      why: 'decided otherwise',
      words: /^'gate' was decided by c\.ada as 'reject'\n/,
      before: ({ scene }) => scene.decide('reject', { note: 'no' }),
    },
    {
      why: 'expired',
      words: /^'gate' could be decided before/,
      before: ({ scene }) => scene.world.clock.jump(2 * HOUR_MS),
    },
    {
      why: 'about a run that has ended',
      words: /^the run is cancelled: 'gate' can no longer be decided/,
      before: ({ scene }) =>
        cancelRun(scene.world.deps, { runId: scene.runId, tenantId: 't1', stopKind: 'user' }),
    },
    {
      why: 'about a run that is not there',
      words: /^no run with this id\n/,
      value: { runId: `run_${'a'.repeat(26)}` },
    },
    { why: 'about an id that is none', words: /^no run with this id\n/, value: { runId: '../x' } },
    {
      why: 'about a step that asks nothing, with markup in its name',
      words: /not asked for a decision on '&lt;!here&gt;'/,
      value: { stepId: '<!here>' },
    },
    {
      why: 'about an earlier question',
      words: /^the last question of 'gate' is 'gate\.1', not the one named/,
      value: { waitId: 'gate.0' },
    },
    { why: 'in a team that is not connected', words: /not connected/, more: { team: { id: 'T9' } } },
    {
      why: 'by a guest from another team',
      words: /^Only members of the workspace/,
      more: { user: { id: 'U1', team_id: 'T9' } },
    },
  ];
  test.each(cases)('$why', async ({ words, before, value, more }) => {
    const at = await stage();
    await before?.(at);
    const { head } = at.scene.state;
    const response = await at.endpoint.press({ ...JSON.parse(at.values.approve ?? ''), ...value }, more);
    expect(response).toEqual({
      response_type: 'ephemeral',
      replace_original: false,
      text: expect.stringMatching(words),
    });
    expect(grown(at, head)).toBe(0);
  });

  test("another tenant's run is answered like a missing one", async () => {
    const { scene, values } = await stage(() => Scene.asking({ tenantId: 't2' }));
    const endpoint = new SlackEndpoint([scene.workflow], scene.world);
    const { head } = scene.state;
    expect((await endpoint.press(values.approve)).text).toMatch(/^no run with this id\n/);
    expect(scene.state.head).toBe(head);
  });

  test('a plan version that is not deployed', async () => {
    const at = await stage();
    const { head } = at.scene.state;
    const endpoint = new SlackEndpoint([{ ...at.scene.workflow, planVersion: 2 }]);
    Object.assign(endpoint.deps, { store: at.scene.world.store });
    expect((await endpoint.press(at.values.approve)).text).toMatch(
      /^version 1 of 'release' is not deployed\n/,
    );
    expect(grown(at, head)).toBe(0);
  });

  test('a store that fails', async () => {
    const at = await stage();
    const store = intercept(at.scene.world.store, () => Promise.reject(new TypeError('secret')));
    Object.assign(at.endpoint.deps, { store });
    expect((await at.endpoint.press(at.values.approve)).text).toMatch(/^Cairn cannot determine/);
  });
});

describe('other interactions with a message', () => {
  test.each([
    ['another button', pressOf({}, { actions: [actionOf('x', 'other')] })],
    ['a button whose name has the same prefix', pressOf({}, { actions: [actionOf('x', 'cairn.decided')] })],
    [
      'an input that was emptied',
      pressOf({}, { actions: [{ type: 'plain_text_input', action_id: 'note', value: null }] }),
    ],
    ['a shortcut', { type: 'shortcut', callback_id: 'x' }],
    ['a submitted form', { type: 'view_submission', view: {} }],
  ])('%s is acknowledged without effect', async (_, payload) => {
    const at = await stage();
    const { head } = at.scene.state;
    const answer = await at.endpoint.post({ form: { payload: JSON.stringify(payload) } });
    expect([answer.status, await answer.text()]).toEqual([200, '']);
    expect(grown(at, head)).toBe(0);
  });
});

test('of an app installed by an organisation the team is that of the person', async () => {
  const { endpoint, values } = await stage();
  const response = await endpoint.press(values.approve, { team: null, user: { id: 'U7', team_id: 'T1' } });
  expect(response.text).toMatch(/^Approved by <@U7>/);
});

test('of a person whose team is not named is by a member of the team of the app', async () => {
  const { endpoint, values } = await stage();
  const response = await endpoint.press(values.approve, { user: { id: 'U7', team_id: null } });
  expect(response.text).toMatch(/^Approved by <@U7>/);
});

test('of two teams of one tenant decide for each other', async () => {
  const { scene, endpoint, values } = await stage();
  const tenants = () => new Map([['T1', 't1'] as const, ['T2', 't1'] as const]);
  const payload = JSON.stringify(pressOf(values.approve, { user: { id: 'U1', team_id: 'T2' } }));
  expect((await endpoint.post({ form: { payload } }, { tenants })).status).toBe(200);
  expect(scene.state.decisions).toMatchObject([{ actor: 's.T2.U1' }]);
});
