import { expect, test } from '@jest/globals';
import { explanationPage } from '../../../packages/cli/src/views/explanation.ts';
import {
  blockedText,
  type RunView,
  runHead,
  stepTable,
  waitList,
} from '../../../packages/cli/src/views/run-page.ts';
import { type RunListItem, runTable } from '../../../packages/cli/src/views/runs.ts';

type Shape = Parameters<typeof runHead>[2];
type Step = Parameters<typeof stepTable>[0][number];

const NOW = Date.parse('2026-01-01T00:01:00.000Z');
const RUN = {
  id: 'run_1',
  type: 'mail',
  planVersion: 1,
  status: 'running',
  createdAt: '2026-01-01T00:00:00.000Z',
  threadId: 'run_1',
  tenantId: 'local',
  trigger: { source: 'api' },
  waits: [],
  running: [],
  runningCount: 0,
  resumeCount: 0,
  cost: { reads: 1, writes: 1, deletes: 0, tasks: 1, usd: 0 },
  traceId: 't',
  lease: { owner: 'o', epoch: 2, expiresAt: '2026-01-01T00:01:30.000Z' },
} as unknown as RunView;
const shape = {
  style: { paint: (_: string, text: string) => text, dim: (t: string) => t, bold: (t: string) => t },
};
const head = (more: object) => runHead({ ...RUN, ...more } as RunView, NOW, shape as unknown as Shape);

test('the page of a run with a silent dispatch shows its last heartbeat and the time of the takeover', () => {
  expect(head({ lastHeartbeatAt: '2026-01-01T00:00:00.000Z' })).toMatch(
    /dispatch 2, no heartbeat for 1 min; if its worker died, the run continues after /,
  );
  expect(head({ lastHeartbeatAt: '2026-01-01T00:00:50.000Z' })).not.toContain('no heartbeat');
});

test('the page of a run that operators stopped shows this with the time of the next check', () => {
  const waiting = { status: 'pending', lease: undefined, wakeAt: '2026-01-01T00:02:00.000Z' };
  expect(head({ ...waiting, stopped: { by: 'kill_switch' } })).toMatch(/stopped +The kill switch is on/);
  expect(head(waiting)).not.toContain('stopped');
});

test('the page of a run dispatched alone names the step at which its worker died', () => {
  const suspect = { times: 2, alone: true, steps: ['send'], deaths: [{ step: 'send', times: 1 }] };
  expect(head({ suspect })).toContain('since its worker died at send; died once alone at send');
  expect(head({ suspect: { ...suspect, alone: false } })).not.toContain('since its worker died');
});

test('the page of a run shows the running bodies with their attempts and start times', () => {
  const since = '2026-01-01T00:00:50.000Z';
  const running = [
    { step: 'fetch', revision: 1, attempt: 2, since },
    { step: 'pay', revision: 1, attempt: 1, since, undoes: true },
  ];
  expect(head({ running, runningCount: 9 })).toContain(
    'fetch (attempt 2, since 10 s ago), pay (undoing, since 10 s ago) and 7 more',
  );
});

test('a step that had not ended at the end of its run is shown as stopped', () => {
  const step = { id: 'ask', kind: 'approval', status: 'waiting', startedAt: RUN.createdAt };
  const row = (status: string) =>
    stepTable(
      [step] as unknown as Step[],
      shape as unknown as Shape,
      {
        ...RUN,
        status,
        compensationLog: [],
      } as unknown as RunView,
    );
  expect(row('awaiting_approval')).toMatch(/ask +approval +waiting/);
  expect(row('cancelled')).toMatch(/ask +approval +stopped/);
});

test('the status of a running run with an open question shows both', () => {
  expect(head({ waitsFor: 'awaiting_approval' })).toContain('running, awaiting_approval');
  expect(head({ status: 'awaiting_approval', waitsFor: 'awaiting_approval' })).not.toContain('running');
});

test('the page of a run without its plan shows the reason and advice, and no past due time', () => {
  const since = '2026-01-01T00:00:00.000Z';
  const blocked = { code: 'PLAN_CHANGED', message: 'It cannot go on.', help: 'Deploy it.', since };
  const text = blockedText(blocked as NonNullable<RunView['blocked']>, NOW, shape as unknown as Shape);
  expect(text).toBe('  It cannot go on. (1 min ago)\n    Deploy it.\n');
  const parked = { parked: 'PLAN_CHANGED', wakeAt: since };
  expect(head(parked)).toMatch(/next check/);
  expect(head({ ...parked, blocked })).not.toMatch(/next check|PLAN_CHANGED/);
});

test('the page shows the code positions of running operations and open waits', () => {
  const running = [
    { step: 'flow[ask]', revision: 1, attempt: 1, since: '2026-01-01T00:00:50.000Z', location: 'src/a.ts:7' },
  ];
  expect(head({ running, runningCount: 1 })).toContain('flow[ask] (since 10 s ago, asked for at src/a.ts:7)');
  const execution = { stepId: 'flow', itemKey: 'rest', location: 'src/a.ts:9' };
  const run = { ...RUN, waits: [{ id: 'w', kind: 'timer', execution }] } as unknown as RunView;
  expect(waitList({ run, isUndecidable: false }, NOW, shape as unknown as Shape)).toBe(
    '  flow[rest] sleeps\n    asked for at src/a.ts:9\n',
  );
});

test('an explanation has the question about a side effect', () => {
  const question = "Step 'send' called 'bank.pay', and the outcome is unknown.";
  const waits = [{ id: 'w', kind: 'approval', purpose: 'effect', effectId: 'e', detail: { question } }];
  const run = { ...RUN, waits } as unknown as RunView;
  const text = { text: 'Waiting.', moves: [], code: [] };
  expect(explanationPage(run, text, NOW, shape as unknown as Shape)).toContain(`“${question}”`);
});

test('an explanation has the details of a question, so that nobody approves them unseen', () => {
  const page = (details: unknown) => {
    const waits = [{ id: 'w', kind: 'approval', detail: { question: 'Allow it?', details } }];
    const run = { ...RUN, waits } as unknown as RunView;
    return explanationPage(run, { text: 'Waiting.', moves: [], code: [] }, NOW, shape as unknown as Shape);
  };
  expect(page({ title: 'Tides' })).toContain('  “Allow it?”\n  {"title":"Tides"}\n');
  expect(page(undefined)).toMatch(/“Allow it\?”\n$/);
  expect(page('x'.repeat(5_000)).replaceAll(/[^x…]/g, '')).toMatch(/^x{1000}…$/);
});

test('an explanation has one row per code position', () => {
  const page = (code: Parameters<typeof explanationPage>[1]['code']) =>
    explanationPage(RUN, { text: 'Running.', moves: [], code }, NOW, shape as unknown as Shape);
  const place = { step: 'flow[ask]', state: 'running', location: 'src/a.ts:7' } as const;
  expect(page([place])).toMatch(
    /Code\n\nOPERATION +STATE +ASKED FOR AT\nflow\[ask\] +running +src\/a\.ts:7\n/,
  );
  expect(page([])).not.toContain('Code');
});

test.each([
  ['a run whose dispatches fail', {}, '3 dispatches failed'],
  ['a step that runs nevertheless', { running: [{ step: 'send' }], runningCount: 1 }, 'at send'],
])('a list says %s', (_what, more, expected) => {
  const failures = { times: 3, error: { code: 'INTERNAL', message: 'out of ink', retryable: true } };
  const run = { ...RUN, failures, ...more } as unknown as RunListItem;
  const wide = { ...shape, columns: 200 } as unknown as Shape;
  expect(runTable([run], NOW, wide).split('\n').at(1)?.trimEnd()).toMatch(new RegExp(` {2}${expected}$`));
});
