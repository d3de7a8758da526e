import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { RESOLUTIONS } from '../../../packages/cairn/src/core/effects/effect.ts';
import { sha256Hex } from '../../../packages/cairn/src/core/encoding/hash.ts';
import { DECISIONS } from '../../../packages/cairn/src/core/run/events.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { MAX_QUESTIONS_OF_RUN } from '../../../packages/cairn/src/operations/inbox/read-inbox.ts';
import { HOUR_MS, release, Scene } from '../../operations/approvals/scene.ts';
import { Outside, type OutsideOptions } from '../../support/outside.ts';
import { Installation } from '../installation.ts';

interface Item {
  readonly runId: string;
  readonly kind: string;
  readonly step: string;
  readonly waitId?: string;
  readonly question: string;
  readonly openedAt: string;
  readonly effectId?: string;
  readonly answers: readonly string[];
  readonly more?: number;
  readonly [name: string]: unknown;
}

/** An installation whose only run asks a question, and a client that may answer. */
class AskingRun {
  readonly outside: Outside;
  readonly installation: Installation;
  #key = '';

  constructor(options?: OutsideOptions, text = 'hello') {
    this.outside = new Outside(options);
    const { capability } = this.outside;
    const post = defineWorkflow({
      type: 'post',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({
        sent: step('send', { uses: [capability] }, ({ perform }) => perform(capability, { text })),
      }),
    });
    this.installation = new Installation([release(), post], [this.outside.binding]);
  }

  get world() {
    return this.installation.world;
  }

  async key(): Promise<string> {
    this.#key ||= await this.installation.key('ops', { roles: ['operator'] });
    return this.#key;
  }

  /** A run that asks about the outcome of its effect. */
  async inDoubt(): Promise<string> {
    this.outside.faults.push('lose_answer');
    const runId = await this.world.start('post', {}, { tenantId: 'acme' });
    await this.untilAsked();
    return runId;
  }

  /** Advances only until a question is open: a waiting run would keep the loop busy forever. */
  untilAsked(): Promise<void> {
    return this.world.run(() =>
      [...this.world.db.runs.values()].some(({ snapshot }) => snapshot.status === 'awaiting_approval'),
    );
  }

  async inbox(query = ''): Promise<{ items: Item[]; next?: string }> {
    const answer = await this.installation.get(`/v1/inbox${query}`, await this.key());
    expect(answer.status).toBe(200);
    return (await answer.json()) as { items: Item[]; next?: string };
  }

  /** Sends one answer by the route for the kind of question. */
  async give(item: Item, answer: string, response: object = { id: 4 }): Promise<Response> {
    const { runId, step, waitId, effectId } = item;
    const isResolution = RESOLUTIONS.some((one) => one === answer) && effectId !== undefined;
    const at = isResolution ? `effects/${effectId}/resolve` : `approvals/${step}`;
    const decision = {
      decision: answer,
      waitId,
      ...(answer === 'retry_with_feedback' ? { feedback: 'once more' } : { note: 'why' }),
    };
    const result = answer === 'recorded' ? { result: response } : {};
    const path = answer === 'resume' ? 'resume' : at;
    const body = answer === 'resume' ? {} : isResolution ? { outcome: answer, ...result } : decision;
    return this.installation.api.request(`/v1/runs/${runId}/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { authorization: `Bearer ${await this.key()}`, 'content-type': 'application/json' },
    });
  }
}

const MAKE: { readonly [what: string]: () => Promise<AskingRun> } = {
  approval: async () => {
    const asking = new AskingRun();
    await Scene.asking({ world: asking.world, tenantId: 'acme' });
    return asking;
  },
  'an approval with no step before it': async () => {
    const asking = new AskingRun();
    const scene = await Scene.begun({ world: asking.world, tenantId: 'acme' });
    await scene.open('lone', { detailText: '{"question":"Begin?","amount":7}' });
    await scene.suspend();
    return asking;
  },
  step_in_doubt: async () => {
    const asking = new AskingRun();
    await Scene.inDoubt({ stepId: 'push' }, { world: asking.world, tenantId: 'acme' });
    return asking;
  },
  effect_in_doubt: async () => {
    const asking = new AskingRun();
    await asking.inDoubt();
    return asking;
  },
  left_in_doubt: async () => {
    const asking = new AskingRun();
    const runId = await asking.inDoubt();
    await cancelRun(asking.world.deps, { runId, tenantId: 'acme', actor: 'c.ops', stopKind: 'user' });
    return asking;
  },
};

async function only(asked: AskingRun): Promise<Item> {
  const { items } = await asked.inbox();
  expect(items).toHaveLength(1);
  return items[0] as Item;
}

async function made(what: string): Promise<AskingRun> {
  const asking = await MAKE[what]?.();
  if (!asking) throw new Error(`no ${what}`);
  return asking;
}

describe('GET /v1/inbox', () => {
  test('is empty without open questions', async () => {
    const asking = new AskingRun();
    await asking.world.start('post', {}, { tenantId: 'acme' });
    await asking.world.run();
    expect(await asking.inbox()).toEqual({ items: [] });
  });

  test('shows an approval with all that a decision needs', async () => {
    const asking = await made('an approval with no step before it');
    expect(await only(asking)).toEqual({
      runId: [...asking.world.db.runs.keys()][0],
      type: 'release',
      status: 'awaiting_approval',
      threadId: expect.any(String),
      kind: 'approval',
      step: 'lone',
      waitId: 'lone.1',
      question: 'Begin?',
      detail: { question: 'Begin?', amount: 7 },
      openedAt: new Date(asking.world.clock.now()).toISOString(),
      answers: ['approve', 'approve_with_waiver', 'reject', 'halt'],
    });
  });

  test('shows an effect in doubt with its id and its request', async () => {
    const asking = await made('effect_in_doubt');
    const [effectId] = [...asking.world.db.effects.keys()];
    expect(await only(asking)).toMatchObject({
      kind: 'effect_in_doubt',
      step: 'send',
      effectId,
      capabilityId: 'post.send',
      request: { text: 'hello' },
      error: expect.stringContaining('the answer was lost'),
      question: expect.stringContaining('the outcome is unknown'),
      attemptedAt: expect.any(String),
      answers: [...RESOLUTIONS],
    });
  });

  test.each(['effect_in_doubt', 'left_in_doubt'])(
    'gives the time of the last call of %s, where the call was repeated',
    async (kind) => {
      const asking = new AskingRun({ idempotency: 'required' });
      const { outside, world } = asking;
      const calls: number[] = [];
      outside.onCall = () => {
        calls.push(world.clock.now());
        outside.faults.push('lose_answer');
      };
      const runId = await asking.inDoubt();
      if (kind === 'left_in_doubt')
        await cancelRun(world.deps, { runId, tenantId: 'acme', actor: 'c.ops', stopKind: 'user' });
      const [first = 0, last = 0] = [calls[0], calls.at(-1)];
      expect(last).toBeGreaterThan(first);
      expect(world.db.effects.size).toBe(1);
      expect(await only(asking)).toMatchObject({ kind, attemptedAt: new Date(last).toISOString() });
    },
  );

  test.each(['effect_in_doubt', 'left_in_doubt'])(
    'refuses a result of %s by the schema of the call, with the member that is wrong',
    async (what) => {
      const asking = await made(what);
      const item = await only(asking);
      const answer = await asking.give(item, 'recorded', { id: 'four' });
      expect(await answer.json()).toMatchObject({
        code: 'INVALID_INPUT',
        field: 'result.id',
        detail: expect.stringMatching(/^result\.id: Invalid input/),
        help: expect.stringContaining("a response of 'post.send'"),
      });
      expect(await only(asking)).toEqual(item);
    },
  );

  test('leaves out a large request of an effect', async () => {
    const asking = new AskingRun({}, 'x'.repeat(5_000));
    await asking.inDoubt();
    expect(await only(asking)).not.toHaveProperty('request');
  });

  test('shows a step in doubt by the name of the step', async () => {
    const asking = new AskingRun({ replayPolicy: 'require_human' });
    const runId = await asking.world.start('post', {}, { tenantId: 'acme' });
    await asking.world.run();
    const { api } = asking.installation;
    const authorization = `Bearer ${await asking.key()}`;
    await api.request(`/v1/runs/${runId}/replay`, { method: 'POST', headers: { authorization } });
    await asking.untilAsked();
    expect(await only(asking)).toMatchObject({
      kind: 'effect_in_doubt',
      capabilityId: 'post.send',
      question: expect.stringContaining("is about to call 'post.send' again"),
    });
  });

  test('shows the request of an effect, also where an earlier run of the lineage made it', async () => {
    const asking = await made('left_in_doubt');
    const { runId: source, effectId } = await only(asking);
    const { api } = asking.installation;
    const authorization = `Bearer ${await asking.key()}`;
    await api.request(`/v1/runs/${source}/replay`, { method: 'POST', headers: { authorization } });
    await asking.untilAsked();
    const question = await only(asking);
    expect(question).toMatchObject({ kind: 'effect_in_doubt', effectId, request: { text: 'hello' } });
    expect(question.runId).not.toBe(source);
    const answer = await api.request(`/v1/runs/${question.runId}/effects`, { headers: { authorization } });
    const { items } = (await answer.json()) as { items: unknown[] };
    expect(items).toEqual([
      expect.objectContaining({
        effectId,
        runId: source,
        request: { text: 'hello' },
        askedBy: question.runId,
      }),
    ]);
  });

  test('shows what an ended run left in doubt, until it is resolved', async () => {
    const asking = await made('left_in_doubt');
    const item = await only(asking);
    expect(item).toMatchObject({
      kind: 'left_in_doubt',
      status: 'cancelled',
      step: 'send',
      capabilityId: 'post.send',
      attemptedAt: expect.any(String),
      request: { text: 'hello' },
      answers: ['recorded', 'failed', 'resume'],
    });
    expect(item).not.toHaveProperty('waitId');
    // A late response has the outcome. The ended run itself never records it.
    const { effectId = '' } = item;
    const stored = await asking.world.effects.read(effectId);
    const updatedAt = asking.world.clock.now();
    await asking.world.effects.change(effectId, stored?.version ?? '', {
      status: 'recorded',
      blockedBy: undefined,
      responseHash: sha256Hex('{"id":1}'),
      resultText: '{"id":1}',
      updatedAt,
    });
    expect(await asking.inbox()).toEqual({ items: [] });
  });

  test.each(Object.keys(MAKE))('of %s lists exactly the answers that would be accepted', async (what) => {
    const asking = await made(what);
    const item = await only(asking);
    expect(item.answers.length).toBeGreaterThan(0);
    // Times and answers for people have other members.
    expect(item.question).not.toMatch(/\d{4}-\d\d-\d\dT|\((recorded|re-execute|failed)\)|[0-9a-f]{64}/);
    for (const answer of [...DECISIONS, ...RESOLUTIONS, 'resume'].filter(
      (one) => !item.answers.includes(one),
    )) {
      const { status } = await asking.give(item, answer);
      expect([answer, status >= 400 && status < 500]).toEqual([answer, true]);
    }
    // A refused answer changes nothing. An accepted one closes the question.
    expect(await only(asking)).toEqual(item);
    for (const answer of item.answers) {
      const other = await made(what);
      expect([answer, (await other.give(await only(other), answer)).ok]).toEqual([answer, true]);
      const left = (await other.inbox()).items.filter(
        ({ kind, waitId }) => kind === item.kind && waitId === item.waitId,
      );
      expect([answer, left]).toEqual([answer, []]);
    }
  });

  test('hides expired questions, and those of a run that is ending', async () => {
    const late = await made('approval');
    late.world.clock.jump(HOUR_MS);
    expect(await late.inbox()).toEqual({ items: [] });
    const asking = new AskingRun();
    const scene = await Scene.begun({ world: asking.world, tenantId: 'acme' });
    await scene.open('lone');
    expect(await only(asking)).toMatchObject({ step: 'lone', status: 'running' });
    await cancelRun(asking.world.deps, {
      runId: scene.runId,
      tenantId: 'acme',
      actor: 'c.ops',
      stopKind: 'user',
    });
    await scene.suspend();
    expect(await asking.inbox()).toEqual({ items: [] });
  });

  test.each([
    ['approval', 'approve', []],
    ['left_in_doubt', 'resume', ['recorded', 'failed']],
    ['effect_in_doubt', 'failed', ['recorded', 're-execute']],
  ])('of %s refuses "%s" for a version that is not deployed, and says so', async (what, answer, rest) => {
    const asking = await made(what);
    asking.world.deps.registry.pinned = () => undefined;
    const item = await only(asking);
    expect(item.answers).toEqual(rest);
    expect((await asking.give(item, answer)).status).toBe(409);
  });

  test('groups the questions of a run, within limits of number and size', async () => {
    const asking = new AskingRun();
    const { world } = asking;
    const first = await Scene.begun({ world, tenantId: 'acme' });
    const large = { question: 'q'.repeat(9_000), beside: 'd' };
    await first.open('lone', { openedAt: 1, detailText: JSON.stringify(large) });
    const many = await Scene.begun({ world, tenantId: 'acme', seed: 2 });
    for (let i = 0; i < MAX_QUESTIONS_OF_RUN + 3; i += 1) {
      await many.doubt({ stepId: 'files', itemKey: String(i), kind: 'map' });
    }
    const { items, next } = await asking.inbox('?limit=1');
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ step: 'lone', isCut: true });
    expect(items[0]?.question.length).toBe(2_000);
    expect(items[0]).not.toHaveProperty('detail');
    const rest = await asking.inbox(`?limit=1&cursor=${next}`);
    expect(rest.next).toBeUndefined();
    expect(rest.items).toHaveLength(MAX_QUESTIONS_OF_RUN);
    expect(new Set(rest.items.map(({ runId }) => runId))).toEqual(new Set([many.runId]));
    expect(rest.items.map(({ more }) => more).filter((more) => more !== undefined)).toEqual([3]);
  });

  test('is limited to the caller’s tenant', async () => {
    const asking = await made('approval');
    const other = await asking.installation.key('others', { tenantId: 'others', roles: ['viewer'] });
    const answer = await asking.installation.get('/v1/inbox', other);
    expect([answer.status, await answer.json()]).toEqual([200, { items: [] }]);
  });
});
