import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { MAX_FOUND } from '../../../packages/cairn/src/operations/search/find-runs.ts';
import { echo, Installation } from '../installation.ts';

const onPush = (type: string) =>
  defineWorkflow({
    type,
    planVersion: 1,
    input: z.unknown(),
    on: { github: [{ event: 'pull_request', actions: ['opened'] }] },
    steps: (step) => ({ done: step('do', () => 1) }),
  });
const PULL_REQUEST = 'https://github.com/acme/app/pull/7';
const DELIVERY = '5e6f1d50-0a4b-11f0-9d3a-1c2b3a4d5e6f';
const opened = JSON.stringify({
  action: 'opened',
  repository: { full_name: 'acme/app' },
  pull_request: { number: 7, html_url: PULL_REQUEST, node_id: 'PR_7' },
});

interface Found {
  readonly by: string;
  readonly run: {
    readonly id: string;
    readonly type: string;
    readonly traceId: string;
    readonly status: string;
  };
}

describe('GET /v1/search', () => {
  let installation: Installation;
  beforeEach(() => {
    installation = new Installation([echo, onPush('review'), onPush('label')]);
  });

  const ask = async (q: string, tenantId = 'acme') => {
    const key = await installation.key(`viewer-${tenantId}`, { tenantId, roles: ['viewer'] });
    return installation.get(`/v1/search?q=${encodeURIComponent(q)}`, key);
  };
  const find = async (q: string) => {
    const answer = await ask(q);
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { items: Found[] }).items;
  };
  const hitsOf = async (q: string) => (await find(q)).map(({ by, run }) => [by, run.id]);

  test('finds a run by each of its names', async () => {
    const key = await installation.key('ci', { roles: ['submitter'] });
    const started = await installation.post(
      key,
      { type: 'echo', input: { text: 'x' }, threadId: 'release-7' },
      { 'idempotency-key': 'build:7' },
    );
    const { runId } = (await started.json()) as { runId: string };
    const [{ run }] = (await find(runId)) as [Found];
    expect(run).toMatchObject({ id: runId, type: 'echo', status: 'pending' });
    expect(run).not.toHaveProperty('input');
    expect(await hitsOf(runId)).toEqual([['run', runId]]);
    expect(await hitsOf(` ${runId} `)).toEqual([['run', runId]]);
    expect(await hitsOf('build:7')).toEqual([['idempotency_key', runId]]);
    expect(await hitsOf('api:c.ci:build:7')).toEqual([['idempotency_key', runId]]);
    expect(await hitsOf('release-7')).toEqual([['thread', runId]]);
    expect(await hitsOf(run.traceId)).toEqual([['trace', runId]]);
  });

  test('finds a run by the beginning of its id, within the tenant', async () => {
    const runId = await installation.world.start('echo', { text: 'x' }, { tenantId: 'acme' });
    expect(await hitsOf(runId.slice(0, 10))).toEqual([['run', runId]]);
    expect(await hitsOf(runId.slice(0, 9))).toEqual([]);
    expect(await (await ask(runId.slice(0, 10), 'others')).json()).toEqual({ items: [] });
  });

  test('finds all runs of a delivery and of its pull request, and by a second delivery of the same event', async () => {
    await installation.deliver({ id: DELIVERY, body: opened });
    const both = [...installation.world.db.runs.keys()].sort();
    expect(both).toHaveLength(2);
    for (const q of [DELIVERY, PULL_REQUEST, `${PULL_REQUEST}/files#diff-1`])
      expect([q, (await find(q)).map(({ run }) => run.id).sort()]).toEqual([q, both]);
    expect((await find(DELIVERY)).map(({ by }) => by)).toEqual(['delivery', 'delivery']);
    expect((await find(PULL_REQUEST)).map(({ by }) => by)).toEqual(['pull_request', 'pull_request']);
    const again = 'another-delivery-of-it';
    await installation.deliver({ id: again, body: opened });
    expect(installation.world.db.runs.size).toBe(2);
    const found = await find(again);
    expect(found.map(({ by }) => by)).toEqual(['delivery']);
    expect(both).toContain(found[0]?.run.id);
  });

  test('reveals nothing of another tenant: the bytes are those for a missing name', async () => {
    await installation.deliver({ id: DELIVERY, body: opened });
    await installation.deliver({ id: 'second', body: opened });
    const [runId = ''] = [...installation.world.db.runs.keys()];
    const unknown = await (await ask('nothing-at-all', 'others')).text();
    expect(unknown).toBe('{"items":[]}');
    for (const q of [runId, DELIVERY, 'second', PULL_REQUEST, `github:${DELIVERY}`])
      expect([q, await (await ask(q, 'others')).text()]).toEqual([q, unknown]);
  });

  test('is limited where many runs share a name, the newest first', async () => {
    const ids: string[] = [];
    for (let i = 0; i < MAX_FOUND + 5; i += 1) {
      installation.world.clock.jump(1);
      ids.push(await installation.world.start('echo', { text: 'x' }, { tenantId: 'acme', threadId: 'th' }));
    }
    expect((await find('th')).map(({ run }) => run.id)).toEqual(ids.toReversed().slice(0, MAX_FOUND));
  });

  test('forgets a second delivery when its record has expired, though Firestore deletes it later', async () => {
    await installation.deliver({ id: DELIVERY, body: opened });
    await installation.deliver({ id: 'second', body: opened });
    installation.world.clock.jump(25 * 3_600_000);
    expect(await find('second')).toEqual([]);
    expect(await find(DELIVERY)).toHaveLength(2);
  });

  test('uses the caller’s vocabulary', async () => {
    await installation.world.start('echo', { text: 'x' }, { tenantId: 'acme', threadId: 'th' });
    const key = await installation.key('orca', { roles: ['viewer'] });
    const runId = [...installation.world.db.runs.keys()][0] ?? '';
    const statusAt = async (path: string) => {
      const answer = await installation.get(path, key);
      const { status, items = [] } = (await answer.json()) as { status?: string; items?: Found[] };
      return status ?? items[0]?.run.status;
    };
    for (const vocabulary of ['orca', 'orcho', 'gwi'])
      expect(await statusAt(`/v1/search?q=th&vocabulary=${vocabulary}`)).toBe(
        await statusAt(`/v1/runs/${runId}?vocabulary=${vocabulary}`),
      );
    expect(await statusAt('/v1/search?q=th&vocabulary=none')).toBe(400);
  });

  test.each(['', '?q=', '?q=a&q=b', '?what=x', '?q=x&limit=1'])('refuses “%s”', async (query) => {
    const key = await installation.key('viewer', { roles: ['viewer'] });
    const answer = await installation.get(`/v1/search${query}`, key);
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([400, 'INVALID_INPUT']);
  });

  test.each(['x'.repeat(1_900), '\u0000', '%', '../../v1', '__x__', '🪨'.repeat(90), ' '])(
    'finds nothing for hostile text, and reports that',
    async (q) => {
      expect(await find(q)).toEqual([]);
    },
  );
});
