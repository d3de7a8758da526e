import { describe, expect, test } from '@jest/globals';
import type { CairnClient } from '../../packages/client/src/client.ts';
import { readActivity } from '../../packages/client/src/explain/read-activity.ts';

type Run = Parameters<typeof readActivity>[1];

const run = (facts: object): Run =>
  ({
    ...{ id: 'run_1', status: 'running', lease: {}, running: [], waits: [], steps: { retrying: 0 } },
    ...facts,
  }) as never;

/** Answers for the graph, and for the event of each seq. */
function api(steps: readonly object[], events: Readonly<Record<number, object>> = {}) {
  const asked: unknown[] = [];
  const client = {
    get: async (path: string) => {
      asked.push(path);
      return { steps };
    },
    follow: async function* (_: string, { after }: { after: number }) {
      asked.push(after + 1);
      yield { kind: 'event', event: { at: AT, data: events[after + 1] } };
    },
  };
  return { client: client as unknown as CairnClient, asked };
}

const AT = '2026-01-01T00:00:00.000Z';
const LATER = '2026-01-01T00:00:05.000Z';
const retrying = (key: string, seq: number, more = {}) => ({ key, phase: 'retrying', seq, ...more });

describe('the activity of a run', () => {
  test('includes whether decisions are refused because the version of a waiting run is not deployed', async () => {
    const waits = [{ kind: 'timer' }, { kind: 'approval' }];
    for (const status of ['awaiting_approval', 'waiting_external']) {
      const { client, asked } = api([]);
      expect(await readActivity(client, run({ status, waits }))).toMatchObject({ isUndecidable: true });
      expect(asked).toEqual(['/v1/runs/{id}/graph']);
      const deployed = { get: async () => ({ steps: [], nodes: [] }) } as unknown as CairnClient;
      expect(await readActivity(deployed, run({ status, waits }))).toMatchObject({ isUndecidable: false });
    }
    const { client, asked } = api([]);
    const others = [{ kind: 'event' }, { kind: 'approval', effectId: 'e' }];
    await readActivity(client, run({ status: 'waiting_external', waits: others }));
    expect(asked).toEqual([]);
  });

  test('is the activity in the run document unless steps are retried', async () => {
    const { client, asked } = api([]);
    expect(await readActivity(client, run({}))).toEqual({ working: [], retrying: [] });
    const busy = run({ steps: { retrying: 1 }, running: [{ step: 'pay' }] });
    expect(await readActivity(client, busy)).toEqual({ working: ['pay'], retrying: [] });
    const queued = run({ status: 'pending', lease: undefined });
    expect(await readActivity(client, queued)).toEqual({ working: [], retrying: [] });
    const over = run({ status: 'failed', steps: { retrying: 1 } });
    expect((await readActivity(client, over)).retrying).toEqual([]);
    expect(asked).toEqual([]);
  });

  test('states whether retried steps failed, are polled, or are held back', async () => {
    const error = { code: 'BUDGET_REACHED', message: 'others hold the rest' };
    const { client, asked } = api(
      [
        { key: 'done', phase: 'done', seq: 2 },
        retrying('asks', 3, { whenRoom: true }),
        retrying('deferred', 4),
        retrying('polled', 5),
        retrying('failed', 6),
        retrying('beyond', 7),
      ],
      { 4: { budget: true, error, retryAt: LATER }, 5: { polled: true, error }, 6: { error } },
    );
    expect((await readActivity(client, run({ steps: { retrying: 4 } }))).retrying).toEqual([
      { key: 'deferred', isPolling: false, deferral: { reason: error.message, isOver: false } },
      { key: 'polled', isPolling: true },
      { key: 'failed', isPolling: false },
    ]);
    expect(asked).toEqual(['/v1/runs/{id}/graph', 4, 5, 6]);
  });

  test('does not mention a hold that is already over', async () => {
    const error = { code: 'BUDGET_REACHED', message: 'the run has reached its budget' };
    const { client } = api([retrying('ask', 9)], { 9: { budget: true, error, retryAt: AT } });
    const { retrying: found } = await readActivity(client, run({ steps: { retrying: 1 } }));
    expect(found).toEqual([
      { key: 'ask', isPolling: false, deferral: { reason: error.message, isOver: true } },
    ]);
  });
});
