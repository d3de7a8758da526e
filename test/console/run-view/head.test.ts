import { describe, expect, test } from '@jest/globals';
import { explainRun } from '../../../packages/client/src/explain/explain-run.ts';
import {
  itemCounts,
  itemsText,
  NOT_BEGUN,
  planOf,
  stepView,
  UNDER_WAY,
  underWay,
} from '../../../packages/console/src/pages/run/graph/step-view.ts';
import { activityOf, doingOf } from '../../../packages/console/src/pages/run/header/doing.ts';
import { unreadText } from '../../../packages/console/src/pages/run/header/unread-text.ts';
import type {
  GraphStepState,
  Run,
  RunGraphNode,
} from '../../../packages/console/src/pages/run/live/events.ts';
import type { StepHistory } from '../../../packages/console/src/pages/run/live/span.ts';

const run = (facts: object): Run =>
  ({
    waits: [],
    running: [],
    steps: { retrying: 0 },
    resumeCount: 0,
    interruptions: 0,
    compensating: false,
    ...facts,
  }) as unknown as Run;
test('unread signals are counted and named', () => {
  expect(unreadText([{ name: 'go' }])).toBe(
    '1 signal was never read: go. A run made from this one can take it over.',
  );
  const names = ['go', 'go', 'stop', 'wait'].map((name) => ({ name }));
  expect(unreadText(names)).toContain('4 signals were never read: go, stop, ….');
});

describe('a step at a glance', () => {
  const done = (key: string, outcome: string) =>
    [key, { key, phase: 'done', seq: 1, revision: 1, outcome }] as const;
  const steps = new Map([
    [
      'read',
      {
        key: 'read',
        phase: 'running',
        seq: 2,
        revision: 2,
        attempt: 3,
        startedAt: '2026-01-01T00:00:00.000Z',
      },
    ],
    done('read[0]', 'succeeded'),
    done('read[1]', 'failed'),
    ['read[2]', { key: 'read[2]', phase: 'waiting', seq: 3, revision: 1 }],
  ] as unknown as [string, GraphStepState][]);
  const histories = new Map();

  test('counts its items by state', () => {
    const view = stepView(
      { id: 'read', kind: 'map', needs: [] },
      { steps, histories, items: itemCounts(steps) },
    );
    expect(view.items).toEqual({
      total: 3,
      isWhole: false,
      isUnderWay: true,
      done: 1,
      failed: 1,
      open: 1,
      undone: 0,
      undoFailed: 0,
    });
    expect(view.items && itemsText(view.items, 'map')).toBe('1 item done so far, 1 open, 1 failed');
    const ended = new Map([...steps, done('read', 'succeeded'), done('read[2]', 'succeeded')] as unknown as [
      string,
      GraphStepState,
    ][]);
    const whole = itemCounts(ended).get('read');
    expect(whole && itemsText(whole, 'map')).toBe('2 of 3 items, 1 failed');
    // The total is unknown after a failure, because the map began no further items.
    ended.set(...(done('read', 'failed') as unknown as [string, GraphStepState]));
    const broken = itemCounts(ended).get('read');
    expect(broken && itemsText(broken, 'map')).toBe('2 items done, 1 failed');
    expect([view.status, view.attempts, view.revision]).toEqual(['running', 3, 2]);
  });

  test('unfinished when its run ended is stopped, and waits for nothing', () => {
    const waiting = new Map([['ask', { key: 'ask', phase: 'waiting', seq: 4 }]]) as unknown as typeof steps;
    const node = { id: 'ask', kind: 'approval' as const, needs: [] };
    const facts = { steps: waiting, histories, items: new Map() };
    expect(stepView(node, facts).status).toBe('waiting');
    expect(stepView(node, { ...facts, isOver: true }).status).toBe('stopped');
    expect(stepView({ ...node, id: 'later' }, { ...facts, isOver: true }).status).toBe(NOT_BEGUN);
  });

  test('without a known event has not begun', () => {
    expect(
      stepView({ id: 'x', kind: 'step', needs: [] }, { steps, histories, items: new Map() }).status,
    ).toBe(NOT_BEGUN);
  });

  test('is running without an event if a dispatch holds the run and nothing blocks it', () => {
    const nodes = ['read', 'audit', 'pay', 'book'].map((id, at, all) => ({
      id,
      kind: 'step' as const,
      needs: at === 0 ? [] : [all[at - 1] ?? ''],
    }));
    const known = new Map([done('read', 'degraded')] as unknown as [string, GraphStepState][]);
    const driven = run({ status: 'running', lease: { epoch: 1 } });
    const at = (facts: object) => [...underWay(nodes, known, run({ ...driven, ...facts }))];
    expect(at({})).toEqual(['audit']);
    expect(at({ lease: undefined })).toEqual([]);
    expect(at({ compensating: true })).toEqual([]);
    expect(at({ status: 'awaiting_approval' })).toEqual([]);
    const failed = new Map([done('read', 'failed')] as unknown as [string, GraphStepState][]);
    expect([...underWay(nodes, failed, driven)]).toEqual([]);
    const view = stepView(nodes[1] as RunGraphNode, {
      steps: known,
      histories,
      items: new Map(),
      working: underWay(nodes, known, driven),
    });
    expect(view.status).toBe(UNDER_WAY);
    const activity = activityOf(doingOf({ nodes, steps: known, histories }, driven));
    expect(explainRun(driven, activity).text).toBe('Running audit.');
  });

  test('that is retried shows attempts, last error and next time', () => {
    const retryAt = '2026-01-01T00:01:00.000Z';
    const step = {
      key: 'push',
      phase: 'retrying',
      seq: 9,
      revision: 1,
      attempt: 4,
      startedAt: retryAt,
      retryAt,
    };
    const error = { code: 'STEP_FAILED', message: 'connection refused' };
    const reports = new Map([
      ['push', { key: 'push', kind: 'step', spans: [{ end: 'retried', error }, { end: 'interrupted' }] }],
    ]) as unknown as ReadonlyMap<string, StepHistory>;
    const known = new Map([['push', step]]) as unknown as ReadonlyMap<string, GraphStepState>;
    const of = (histories: ReadonlyMap<string, StepHistory>, status = 'running') =>
      doingOf({ nodes: undefined, steps: known, histories }, run({ status })).trying;
    expect(of(reports)).toEqual([{ key: 'push', attempt: 4, retryAt, error }]);
    expect(of(new Map())).toEqual([{ key: 'push', attempt: 4, retryAt, error: undefined }]);
    expect(of(reports, 'failed')).toEqual([]);
  });

  test('without a deployed plan is listed if it has begun, with its items', () => {
    expect(planOf({ nodes: undefined, steps, histories }).map(({ id }) => id)).toEqual(['read']);
  });
});
