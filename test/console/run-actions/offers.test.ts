import { describe, expect, test } from '@jest/globals';
import { offersOf, type Standing } from '../../../packages/console/src/pages/run/actions/offers.ts';
import type { CallerRole } from '../../../packages/console/src/session/session.ts';

const ROLES: readonly CallerRole[] = ['viewer', 'submitter', 'operator', 'admin', 'installation'];
const as = (role: CallerRole) => (least: CallerRole) => ROLES.indexOf(role) >= ROLES.indexOf(least);

const wait = (id: string, more: object = {}) => ({
  id,
  kind: 'approval',
  execution: { stepId: id, revision: 1 },
  openedAt: '2026-01-01T00:00:00.000Z',
  ...more,
});

function offers(run: object, role: CallerRole = 'admin', more: object = {}) {
  const standing = { status: 'running', waits: [], compensating: false, ...run } as unknown as Standing;
  return offersOf({ run: standing, may: as(role), isOnHold: false, isUndecidable: false, ...more });
}
const names = (run: object) => offers(run).map(({ name }) => name);

describe('what can be done with a run', () => {
  test.each([
    ['a run that runs', { status: 'running' }, ['Signal', 'Suspend', 'Cancel', 'Legal hold']],
    [
      'a run that was interrupted',
      { status: 'interrupted' },
      ['Signal', 'Suspend', 'Cancel', 'Resume', 'Legal hold'],
    ],
    [
      'a run that backs off after a failed dispatch',
      { failures: { times: 1 }, dueAt: '2026-01-01T00:00:30.000Z' },
      ['Signal', 'Suspend', 'Cancel', 'Resume', 'Legal hold'],
    ],
    [
      'a run that has a worker again after a failed dispatch',
      { failures: { times: 1 }, dueAt: '2026-01-01T00:00:30.000Z', lease: { epoch: 2 } },
      ['Signal', 'Suspend', 'Cancel', 'Legal hold'],
    ],
    [
      'a run that is blocked on deployment',
      { status: 'waiting_external', parked: 'PLAN_VERSION_UNAVAILABLE' },
      ['Signal', 'Suspend', 'Cancel', 'Resume', 'Legal hold'],
    ],
    [
      'a run that sleeps',
      { status: 'waiting_external', waits: [wait('nap', { kind: 'timer' })] },
      ['Signal', 'Suspend', 'Cancel', 'Legal hold'],
    ],
    [
      'a run whose timer is due',
      {
        status: 'waiting_external',
        waits: [wait('nap', { kind: 'timer' })],
        blocked: { code: 'DISPATCH_DUE' },
      },
      ['Signal', 'Suspend', 'Cancel', 'Resume', 'Legal hold'],
    ],
    [
      'a run that waits for an event and asks for an approval',
      { status: 'awaiting_approval', waits: [wait('mail', { kind: 'event', name: 'm' }), wait('gate')] },
      ['Answer gate', 'Send “m”', 'Fail mail', 'Signal', 'Suspend', 'Cancel', 'Legal hold'],
    ],
    [
      'a run that asks for approvals',
      { status: 'awaiting_approval', waits: [wait('review'), wait('sign')] },
      ['Answer review', 'Answer sign', 'Signal', 'Suspend', 'Cancel', 'Legal hold'],
    ],
    [
      'a run in doubt',
      {
        status: 'awaiting_approval',
        waits: [wait('a', { purpose: 'doubt' }), wait('b', { purpose: 'effect', effectId: 'e.1' })],
      },
      ['Decide about a', 'Resolve the action of b', 'Signal', 'Suspend', 'Cancel', 'Legal hold'],
    ],
    [
      'a run that waits for an event, a timer and a child',
      {
        status: 'waiting_external',
        waits: [
          wait('e', { kind: 'event', name: 'paid' }),
          wait('t', { kind: 'timer' }),
          wait('c', { kind: 'child' }),
        ],
      },
      ['Send “paid”', 'Fail e', 'Signal', 'Suspend', 'Cancel', 'Legal hold'],
    ],
    [
      'a run that an operator suspended',
      { status: 'waiting_external', waits: [], suspension: { reason: 'r' } },
      ['Signal', 'Continue', 'Cancel', 'Legal hold'],
    ],
    ['a run that failed', { status: 'failed' }, ['Resume', 'Replay', 'Fork', 'Legal hold']],
    ['a run that completed', { status: 'completed' }, ['Replay', 'Fork', 'Legal hold']],
  ])('%s', (_, run, expected) => expect(names(run)).toEqual(expected));

  test('a held run can be released; if the hold is unknown, it can be neither held nor released', () => {
    expect(offers({}, 'admin', { isOnHold: true }).at(-1)).toMatchObject({ act: 'release' });
    expect(offers({ status: 'failed' }, 'admin', { isOnHold: undefined }).at(-1)).toMatchObject({
      act: 'fork',
    });
  });

  test('an answer is about its own question', () => {
    const [first, second] = offers({
      status: 'awaiting_approval',
      waits: [wait('review'), wait('b', { purpose: 'effect', effectId: 'e.1' })],
    });
    expect(first).toMatchObject({ act: 'decide', about: { wait: 'review' } });
    expect(second).toMatchObject({ act: 'resolve', about: { effect: 'e.1' } });
  });
});

describe('reasons why an action is disabled', () => {
  const refusals = (run: object, role: CallerRole) =>
    offers(run, role).map(({ act, refused }) => [act, refused ?? 'no'] as const);

  test.each([
    ['viewer', ['submitter', 'operator', 'operator', 'admin']],
    ['submitter', ['no', 'operator', 'operator', 'admin']],
    ['operator', ['no', 'no', 'no', 'admin']],
    ['admin', ['no', 'no', 'no', 'no']],
  ] as const)('a %s sees which role an action requires', (role, needs) => {
    expect(refusals({ status: 'running' }, role)).toEqual(
      (['signal', 'suspend', 'cancel', 'hold'] as const).map((act, at) => [
        act,
        needs[at] === 'no' ? 'no' : `This requires the role ${needs[at]}.`,
      ]),
    );
  });

  test('a run being cancelled cannot be answered or cancelled again', () => {
    const run = { status: 'awaiting_approval', waits: [wait('review')], cancellation: { stopKind: 'user' } };
    expect(refusals(run, 'admin')).toEqual([
      ['decide', 'The run is being cancelled.'],
      ['signal', 'no'],
      ['suspend', 'It was requested already.'],
      ['cancel', 'It was requested already.'],
      ['hold', 'no'],
    ]);
  });

  test('decisions are disabled while the version of the run is not deployed; resolving an effect is not', () => {
    const waits = [
      wait('review'),
      wait('a', { purpose: 'doubt' }),
      wait('m', { purpose: 'budget' }),
      wait('b', { purpose: 'effect', effectId: 'e.1' }),
      wait('e', { kind: 'event', name: 'paid' }),
    ];
    const refused = offers({ status: 'awaiting_approval', waits }, 'admin', { isUndecidable: true })
      .filter((offer) => offer.refused !== undefined)
      .map(({ act, about, refused }) => [act, about.wait, refused]);
    expect(refused).toEqual(
      ['m', 'review', 'a'].map((id) => ['decide', id, expect.stringContaining('not deployed')]),
    );
  });

  test('a run is resumed once, and its successor is named', () => {
    const [resume] = offers({ status: 'failed', supersededBy: 'run_b' });
    expect(resume?.refused).toContain('run_b');
  });
});
