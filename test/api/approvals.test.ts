import { describe, expect, test } from '@jest/globals';
import type { Role } from '../../packages/cairn/src/ports/access/client-store.ts';
import { HOUR_MS, release, Scene } from '../operations/approvals/scene.ts';
import { Installation } from './installation.ts';

interface Ready {
  readonly installation: Installation;
  readonly key: string;
  readonly scene: Scene;
  decide(body: unknown, more?: Partial<Call>): Promise<Response>;
}

interface Call {
  readonly key: string;
  readonly runId: string;
  readonly stepId: string;
  readonly query: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A run that asks for approval, and a client that may decide. */
async function ready(make: (world: Installation['world']) => Promise<Scene> = asking): Promise<Ready> {
  const installation = new Installation([release()]);
  const key = await installation.key('ops', { roles: ['operator'] });
  const scene = await make(installation.world);
  return {
    installation,
    key,
    scene,
    decide: async (body, more = {}) =>
      installation.api.request(
        `/v1/runs/${more.runId ?? scene.runId}/approvals/${more.stepId ?? 'gate'}${more.query ?? ''}`,
        {
          method: more.method ?? 'POST',
          ...(more.method === 'GET' ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
          headers: {
            authorization: `Bearer ${more.key ?? key}`,
            'content-type': 'application/json',
            ...more.headers,
          },
        },
      ),
  };
}

const asking = (world: Installation['world']) => Scene.asking({ world, tenantId: 'acme' });

describe('POST /v1/runs/{id}/approvals/{stepId}', () => {
  test('decides, and answers with the author, the decision and the time', async () => {
    const { scene, installation, key, decide } = await ready();
    const answer = await decide({ decision: 'approve', note: 'go' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(await answer.json()).toEqual({
      runId: scene.runId,
      stepId: 'gate',
      waitId: 'gate.1',
      decision: 'approve',
      decidedBy: 'c.ops',
      decidedAt: new Date(scene.now).toISOString(),
    });
    const run = await (await installation.get(`/v1/runs/${scene.runId}`, key)).json();
    expect(run).toMatchObject({ status: 'running', waits: [] });
    const events = (await (await installation.get(`/v1/runs/${scene.runId}/events`, key)).json()) as {
      items: { type: string; actor?: string; data: object }[];
    };
    expect(events.items.find(({ type }) => type === 'wait_resolved')).toMatchObject({
      actor: 'c.ops',
      data: { decision: 'approve', payload: { note: 'go' } },
    });
  });

  test.each<[string, object, string]>([
    ['approve', {}, 'running'],
    ['approve_with_waiver', { note: 'n' }, 'running'],
    ['reject', {}, 'running'],
    ['halt', { note: 'n' }, 'cancelled'],
    ['retry_with_feedback', { feedback: 'f', steps: ['fetch'] }, 'running'],
  ])('takes %s', async (decision, more, status) => {
    const { scene, decide } = await ready();
    const answer = await decide({ decision, waitId: 'gate.1', ...more });
    expect(await answer.json()).toMatchObject({ decision });
    expect(scene.state.status).toBe(status);
  });

  test('leaves the author and the decision in the run and its events', async () => {
    const { scene, installation, key, decide } = await ready();
    await decide({ decision: 'retry_with_feedback', feedback: 'say "why"' });
    const at = `/v1/runs/${scene.runId}`;
    expect(await (await installation.get(at, key)).json()).toMatchObject({
      waits: [],
      decisions: [{ stepId: 'gate', waitId: 'gate.1', decision: 'retry_with_feedback', actor: 'c.ops' }],
      feedback: [{ steps: ['review', 'gate', 'ship'], text: 'say "why"' }],
    });
    const { items } = (await (await installation.get(`${at}/events`, key)).json()) as {
      items: { type: string; data: object }[];
    };
    expect(items.find(({ type }) => type === 'feedback_given')?.data).toEqual({
      waitId: 'gate.1',
      steps: ['review'],
      again: ['review', 'gate', 'ship'],
      feedback: 'say "why"',
    });
  });

  test('finds an item by its percent-encoded key in the path', async () => {
    const { scene, decide } = await ready((world) =>
      Scene.inDoubt({ stepId: 'files', itemKey: '0' }, { world, tenantId: 'acme' }),
    );
    const answer = await decide({ decision: 'approve' }, { stepId: encodeURIComponent('files[0]') });
    expect(await answer.json()).toMatchObject({ stepId: 'files[0]', waitId: 'files[0].1.1.doubt' });
    expect(scene.state.steps.get('files[0]')).toMatchObject({ phase: 'retrying' });
  });

  test('without a key is idempotent, and another decision is answered 409 with the first one', async () => {
    const { decide, installation } = await ready();
    const first = await (await decide({ decision: 'approve' })).json();
    installation.world.clock.jump(60_000);
    expect(await (await decide({ decision: 'approve' })).json()).toEqual(first);
    const other = await decide({ decision: 'reject' });
    expect(other.status).toBe(409);
    expect(other.headers.get('content-type')).toBe('application/problem+json');
    expect(await other.json()).toMatchObject({
      code: 'APPROVAL_DECIDED',
      stepId: 'gate',
      details: { decision: 'approve', decidedBy: 'c.ops' },
    });
  });

  test.each<[string, string, number, string]>([
    ['a step that is not there', 'nope', 404, 'NOT_FOUND'],
    ['one that asks nothing yet', 'lone', 404, 'NOT_FOUND'],
    ['half an escape', '%E0%A4%A', 404, 'NOT_FOUND'],
  ])('of %s is refused with its name', async (_, stepId, status, code) => {
    const { decide } = await ready();
    const answer = await decide({ decision: 'approve' }, { stepId });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ code, stepId });
  });

  test('after the deadline is answered 410, and after the end of the run 409', async () => {
    const late = await ready();
    late.installation.world.clock.jump(HOUR_MS);
    const expired = await late.decide({ decision: 'approve' });
    expect(expired.status).toBe(410);
    expect(await expired.json()).toMatchObject({ code: 'APPROVAL_EXPIRED' });

    const over = await ready();
    const cancel = `/v1/runs/${over.scene.runId}/cancel`;
    const headers = { authorization: `Bearer ${over.key}` };
    await over.installation.api.request(cancel, { method: 'POST', headers });
    const refused = await over.decide({ decision: 'approve' });
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({ code: 'RUN_TERMINAL_STATE' });
  });

  test('allows no other method', async () => {
    const { decide } = await ready();
    const answer = await decide({}, { method: 'GET' });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST');
  });
});

describe('with an idempotency key', () => {
  const headers = { 'idempotency-key': 'k1' };

  test('a repetition gets the same bytes and a marker, even when the run has moved on', async () => {
    const { installation, decide } = await ready();
    const body = { decision: 'retry_with_feedback', feedback: 'f' };
    const first = await (await decide(body, { headers })).text();
    installation.world.clock.jump(2 * HOUR_MS);
    const again = await decide(body, { headers });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await again.text()).toBe(first);
  });

  test('the key of another decision is refused with 422', async () => {
    const { scene, decide } = await ready();
    await decide({ decision: 'approve' }, { headers });
    const { head } = scene.state;
    for (const more of [{}, { stepId: 'lone' }]) {
      const answer = await decide({ decision: 'reject' }, { headers, ...more });
      expect(answer.status).toBe(422);
      expect(await answer.json()).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
    }
    expect(scene.state.head).toBe(head);
  });
});

describe('permissions', () => {
  test.each<[Role, number]>([
    ['viewer', 403],
    ['submitter', 403],
    ['operator', 200],
    ['admin', 200],
  ])('%s: %i', async (role, status) => {
    const { installation, scene, decide } = await ready();
    const key = await installation.key('someone', { roles: [role] });
    expect((await decide({ decision: 'approve' }, { key })).status).toBe(status);
    expect(scene.state.waits).toHaveLength(status === 200 ? 0 : 1);
  });

  test('the admin of another tenant gets the answer for a missing run, and leaves no trace', async () => {
    const { installation, scene, decide } = await ready();
    const key = await installation.key('far', { tenantId: 'other', roles: ['admin'] });
    const headers = { 'idempotency-key': 'k1' };
    const before = installation.written();
    const foreign = await decide({ decision: 'approve' }, { key, headers });
    const runId = `${scene.runId.slice(0, -4)}aaaa`;
    const missing = await decide({ decision: 'approve' }, { key, headers, runId });
    expect([foreign.status, missing.status]).toEqual([404, 404]);
    expect(await missing.text()).toBe(await foreign.text());
    expect(installation.written()).toBe(before);
    expect(scene.state.waits).toHaveLength(1);
  });
});

describe('an invalid decision is refused before anything is written', () => {
  test.each<[string, unknown, number, string | undefined]>([
    ['no decision', {}, 400, 'decision'],
    ['a decision that is none', { decision: 'maybe' }, 400, 'decision'],
    ['an unknown member', { decision: 'approve', force: true }, 400, 'force'],
    ['a note that is no text', { decision: 'approve', note: 7 }, 400, 'note'],
    ['an empty note', { decision: 'approve', note: '' }, 400, 'note'],
    ['a waiver without a note', { decision: 'approve_with_waiver' }, 400, 'note'],
    ['no feedback', { decision: 'retry_with_feedback' }, 400, 'feedback'],
    [
      'feedback that is too long',
      { decision: 'retry_with_feedback', feedback: 'x'.repeat(8_193) },
      413,
      'feedback',
    ],
    ['steps that are no list', { decision: 'retry_with_feedback', feedback: 'f', steps: 'a' }, 400, 'steps'],
    ['an empty list', { decision: 'retry_with_feedback', feedback: 'f', steps: [] }, 400, 'steps'],
    [
      'more steps than fit a screen',
      { decision: 'retry_with_feedback', feedback: 'f', steps: Array.from({ length: 201 }, () => 'a') },
      400,
      'steps',
    ],
    ['a body that is not JSON', '{"decision"', 400, undefined],
    ['more than 64 KiB', { decision: 'approve', note: 'x'.repeat(64 * 1024) }, 413, undefined],
  ])('%s', async (_, body, status, field) => {
    const { installation, scene, decide } = await ready();
    const before = installation.written();
    const { head } = scene.state;
    const answer = await decide(body, { headers: { 'idempotency-key': 'k1' } });
    expect(answer.status).toBe(status);
    const problem = (await answer.json()) as Record<string, unknown>;
    expect(problem).toMatchObject({ status, help: expect.any(String) });
    expect(problem.field).toBe(field);
    expect(installation.written()).toBe(before);
    expect(scene.state.head).toBe(head);
  });

  test('a query parameter', async () => {
    const { decide } = await ready();
    expect((await decide({ decision: 'approve' }, { query: '?force=1' })).status).toBe(400);
  });
});
