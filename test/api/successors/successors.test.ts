import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { CairnError, Fatal } from '../../../packages/cairn/src/core/errors.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { Role } from '../../../packages/cairn/src/ports/access/client-store.ts';
import { Installation } from '../installation.ts';

/** Its second step fails until it is repaired; a policy may forbid it. */
function scene() {
  const cause = { mended: false, allowed: true };
  const flaky = defineWorkflow({
    type: 'flaky',
    planVersion: 1,
    input: z.object({ text: z.string() }),
    policy: () => ({ allowed: cause.allowed, policySnapshotId: 'p1', reason: 'not today' }),
    steps(step) {
      const read = step('read', ({ input }) => input.text);
      const ship = step('ship', { needs: { read } }, ({ read }) => {
        if (!cause.mended) throw new Fatal('broken');
        return `shipped ${read}`;
      });
      return { ship };
    },
  });
  const installation = new Installation([flaky]);
  return { installation, cause };
}

type Scene = ReturnType<typeof scene>;

interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

async function asking({ installation }: Scene, role: Role = 'operator') {
  const key = await installation.key(role, { roles: [role] });
  return async (path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<Told> => {
    const answer = await installation.api.request(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    });
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Told['body'] };
  };
}

async function read({ installation }: Scene, path: string): Promise<Told['body']> {
  const key = await installation.key('reader', { roles: ['viewer'] });
  return (await (await installation.get(path, key)).json()) as Told['body'];
}

/** A failed run whose cause has been repaired. */
async function failed(of: Scene, text = 'x'): Promise<string> {
  const ask = await asking(of);
  const { body } = await ask('/v1/runs', { type: 'flaky', input: { text } });
  await of.installation.world.run();
  of.cause.mended = true;
  return String(body.runId);
}

describe('a resume', () => {
  test('makes a successor and answers its location; both runs name the other', async () => {
    const of = scene();
    const runId = await failed(of);
    const ask = await asking(of);
    const { status, headers, body } = await ask(`/v1/runs/${runId}/resume`);
    expect(status).toBe(201);
    expect(body).toMatchObject({ type: 'flaky', planVersion: 1, status: 'pending' });
    const successor = String(body.runId);
    expect(headers.get('location')).toBe(`/v1/runs/${successor}`);
    await of.installation.world.run();
    expect(await read(of, `/v1/runs/${successor}`)).toMatchObject({
      status: 'completed',
      source: { runId, mode: 'resume' },
      resumedFrom: runId,
      rootRunId: runId,
      replay: 'finished',
      result: { ship: 'shipped x' },
      steps: { reused: 1, succeeded: 1 },
    });
    expect(await read(of, `/v1/runs/${runId}`)).toMatchObject({ status: 'failed', supersededBy: successor });
  });

  test('repeats its answer when sent again, and a second one is answered with the first successor', async () => {
    const of = scene();
    const runId = await failed(of);
    const ask = await asking(of);
    const path = `/v1/runs/${runId}/resume`;
    const first = await ask(path, {}, { 'idempotency-key': 'k' });
    const again = await ask(path, {}, { 'idempotency-key': 'k' });
    expect(again.status).toBe(200);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect(again.body).toEqual(first.body);
    const other = await ask(path, { from: { step: 'read' } }, { 'idempotency-key': 'k' });
    expect(other.body).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
    const second = await ask(path, {}, { 'idempotency-key': 'k2' });
    expect(second.body).toMatchObject({
      status: 409,
      code: 'RUN_TERMINAL_STATE',
      details: { supersededBy: first.body.runId },
    });
    expect(of.installation.world.db.runs.size).toBe(2);
  });

  test('of a completed or a live run is refused', async () => {
    const of = scene();
    of.cause.mended = true;
    const ask = await asking(of);
    const { body } = await ask('/v1/runs', { type: 'flaky', input: { text: 'x' } });
    const path = `/v1/runs/${body.runId}/resume`;
    expect(await ask(path, { from: { step: 'ship' } })).toMatchObject({
      body: { status: 409, code: 'RUN_INVALID_TRANSITION' },
    });
    expect(await ask(path)).toMatchObject({ status: 200, body: { outcome: 'moving', status: 'pending' } });
    await of.installation.world.run();
    expect(await ask(path)).toMatchObject({
      body: { status: 409, code: 'RUN_TERMINAL_STATE', details: { status: 'completed' } },
    });
  });
});

describe('a resume of a live run that ends before the resume is recorded', () => {
  test.each([
    ['its first attempt got no answer of the store', true],
    ['it ends during the first attempt', false],
  ])('creates a successor when it is repeated, where %s', async (_, isLost) => {
    const of = scene();
    const ask = await asking(of);
    const { world } = of.installation;
    const { body } = await ask('/v1/runs', { type: 'flaky', input: { text: 'x' } });
    const path = `/v1/runs/${body.runId}/resume`;
    const { load } = world.store;
    let loads = 0;
    world.store.load = async (...args) => {
      loads += 1;
      if (loads !== 2) return load.apply(world.store, args);
      if (isLost) throw new CairnError('UNAVAILABLE', 'the store did not respond in time');
      await world.run();
      return load.apply(world.store, args);
    };
    const key = { 'idempotency-key': 'k1' };
    expect((await ask(path, {}, key)).body).toMatchObject({ status: 503, code: 'UNAVAILABLE' });
    world.store.load = load;
    await world.run();
    const repeated = await ask(path, {}, key);
    expect(repeated.status).toBe(201);
    expect(await read(of, `/v1/runs/${repeated.body.runId}`)).toMatchObject({ resumedFrom: body.runId });
    expect(await ask(path, {}, key)).toMatchObject({ status: 200, body: repeated.body });
  });
});

describe('unread signals', () => {
  test('are in the answer of the run and in the preview, and are carried over on request', async () => {
    const of = scene();
    const ask = await asking(of);
    const { body: run } = await ask('/v1/runs', { type: 'flaky', input: { text: 'x' } });
    const path = `/v1/runs/${run.runId}`;
    await ask(`${path}/signals`, { name: 'go', key: 'k', data: 7 }, { 'idempotency-key': 's1' });
    expect((await ask(`${path}/resume`, { signals: 'carry' })).body).toMatchObject({
      code: 'RUN_INVALID_TRANSITION',
      help: "Leave out 'from', 'force' and 'signals'.",
    });
    await of.installation.world.run();
    of.cause.mended = true;
    const { inbox } = (await read(of, path)) as { inbox: { signalId: string; at: string }[] };
    expect(inbox).toMatchObject([{ name: 'go', key: 'k', payload: 7 }]);
    const unread = inbox.map(({ signalId, at }) => ({ signalId, name: 'go', key: 'k', at }));
    const { body: preview } = await ask(`${path}/preview`, { mode: 'resume', signals: 'carry' });
    expect(preview.unread).toEqual(unread);
    expect((await ask(`${path}/resume`, { signals: 'drop' })).status).toBe(400);

    const { body: resumed } = await ask(`${path}/resume`, { signals: 'carry' });
    await of.installation.world.run();
    expect(await read(of, `/v1/runs/${resumed.runId}`)).toMatchObject({
      status: 'completed',
      source: { signals: 'carry' },
      inbox: [{ signalId: inbox[0]?.signalId, payload: 7 }],
    });
  });
});

describe('a reused output', () => {
  test('is read from the successor like any other output, whatever its size', async () => {
    const of = scene();
    const large = 'x'.repeat(400_000);
    const runId = await failed(of, large);
    const ask = await asking(of);
    const { body } = await ask(`/v1/runs/${runId}/resume`);
    const successor = String(body.runId);
    await of.installation.world.run();
    const { items } = await read(of, `/v1/runs/${successor}/checkpoints?limit=100`);
    const reused = (items as Told['body'][]).find(({ outcome }) => outcome === 'reused');
    expect(reused).toMatchObject({ stepId: 'read', outputFrom: { runId } });
    const path = `/v1/runs/${successor}/checkpoints`;
    expect(await read(of, `${path}/${reused?.seq}/output`)).toBe(large);
    const run = await read(of, `/v1/runs/${successor}`);
    const { checkpoint } = run.inputRef as { checkpoint: number };
    expect(await read(of, `${path}/${checkpoint}/output`)).toEqual({ text: large });
    const { db } = of.installation.world;
    const own = [...db.payloads.keys()].filter((key) => key.includes(successor));
    // The successor stores only the result and the output of the step that ran: the input and reused outputs stay where they were.
    expect(own.length).toBeLessThanOrEqual(2);
  });
});

describe('a replay and a fork', () => {
  test('leave the source unchanged, and may be made any number of times', async () => {
    const of = scene();
    const runId = await failed(of);
    const before = of.installation.world.db.runs.get(runId)?.events.length;
    const ask = await asking(of);
    for (const [mode, body] of [
      ['replay', {}],
      ['replay', { from: { step: 'ship' } }],
      ['fork', { input: { text: 'y' }, threadId: 'other' }],
    ] as const) {
      expect((await ask(`/v1/runs/${runId}/${mode}`, body)).status).toBe(201);
    }
    await of.installation.world.run();
    expect(of.installation.world.db.runs.get(runId)?.events.length).toBe(before);
    const { items } = await read(of, '/v1/runs?limit=10');
    const results = (items as Told['body'][]).map(({ source, threadId, status }) => [
      source,
      threadId,
      status,
    ]);
    expect(results).toHaveLength(4);
    // Each names the part of the source it was made from, even if none was chosen.
    const checkpointHead = expect.stringMatching(/^\d{10}$/);
    expect(results).toContainEqual([{ runId, mode: 'fork', checkpointHead }, 'other', 'completed']);
    expect(results).toContainEqual([
      { runId, mode: 'replay', stepId: 'ship', checkpointHead },
      runId,
      'completed',
    ]);
  });

  test('with invalid members are refused with the member', async () => {
    const of = scene();
    const runId = await failed(of);
    const ask = await asking(of);
    const cases = [
      ['replay', { input: { text: 'y' } }, 400, 'input'],
      ['replay', { from: { step: 'nowhere' } }, 400, 'from.step'],
      ['replay', { from: { checkpoint: 999 } }, 400, 'from.checkpoint'],
      ['replay', { from: { step: 'read', checkpoint: 3 } }, 400, 'from'],
      ['fork', { input: { text: 1 } }, 400, 'input.text'],
      ['fork', { planVersion: 9 }, 409, 'planVersion'],
    ] as const;
    for (const [mode, body, status, field] of cases) {
      const response = await ask(`/v1/runs/${runId}/${mode}`, body, { 'idempotency-key': field });
      expect([mode, body, response.body]).toEqual([mode, body, expect.objectContaining({ status, field })]);
    }
    expect(of.installation.world.db.runs.size).toBe(1);
  });

  test('of a live run are refused', async () => {
    const of = scene();
    const ask = await asking(of);
    const { body } = await ask('/v1/runs', { type: 'flaky', input: { text: 'x' } });
    for (const mode of ['replay', 'fork']) {
      const response = await ask(`/v1/runs/${body.runId}/${mode}`);
      expect(response.body).toMatchObject({ status: 409, code: 'RUN_INVALID_TRANSITION' });
    }
  });
});

describe('a policy', () => {
  test('is asked again for a successor', async () => {
    const of = scene();
    const runId = await failed(of);
    const { body } = await (await asking(of))(`/v1/runs/${runId}/resume`);
    of.cause.allowed = false;
    await of.installation.world.run();
    expect(await read(of, `/v1/runs/${body.runId}`)).toMatchObject({
      status: 'cancelled',
      stopKind: 'policy',
    });
  });

  test('is bypassed by an admin on request, and the journal names the admin', async () => {
    const of = scene();
    const runId = await failed(of);
    of.cause.allowed = false;
    const path = `/v1/runs/${runId}/resume`;
    expect(await (await asking(of))(path, { force: true })).toMatchObject({
      status: 403,
      body: { code: 'FORBIDDEN' },
    });
    const { body } = await (await asking(of, 'admin'))(path, { force: true });
    await of.installation.world.run();
    const run = await read(of, `/v1/runs/${body.runId}`);
    expect(run).toMatchObject({ status: 'completed', source: { forcedBy: 'c.admin' } });
    const { items } = await read(of, `/v1/runs/${body.runId}/events?limit=100`);
    expect((items as Told['body'][]).filter(({ type }) => type === 'policy_evaluated')).toMatchObject([
      { actor: 'c.admin', initiator: 'user', data: { allowed: true, forced: true } },
    ]);
  });
});

describe('a preview', () => {
  test('lists what would be reused and what would run, and writes nothing', async () => {
    const of = scene();
    const runId = await failed(of);
    const ask = await asking(of);
    const { db, queue } = of.installation.world;
    const before = JSON.stringify([[...db.runs], [...db.records], queue.pending]);
    const response = await ask(`/v1/runs/${runId}/preview`, { mode: 'resume' }, { 'idempotency-key': 'k' });
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      runId,
      mode: 'resume',
      would: 'start_successor',
      planVersion: 1,
      steps: [
        {
          id: 'read',
          kind: 'step',
          revision: 1,
          action: 'reused',
          from: { runId, checkpoint: expect.any(Number) },
        },
        { id: 'ship', kind: 'step', revision: 1, action: 'runs', why: 'failed', items: 0 },
      ],
      effects: [],
      effectsCut: false,
      unread: [],
      blockers: [],
    });
    expect(JSON.stringify([[...db.runs], [...db.records], queue.pending])).toBe(before);
  });

  test('reports the same blocker as the request itself', async () => {
    const of = scene();
    const runId = await failed(of);
    const ask = await asking(of);
    await ask(`/v1/runs/${runId}/resume`);
    const { body } = await ask(`/v1/runs/${runId}/preview`, { mode: 'resume' });
    const refusal = await ask(`/v1/runs/${runId}/resume`);
    expect(body).toMatchObject({ would: 'nothing', steps: [], blockers: [refusal.body] });
    const fork = await ask(`/v1/runs/${runId}/preview`, { mode: 'fork', planVersion: 2 });
    expect(fork.body).toMatchObject({ blockers: [{ code: 'PLAN_VERSION_UNAVAILABLE' }] });
  });
});
