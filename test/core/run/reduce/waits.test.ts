import { describe, expect, test } from '@jest/globals';
import { sha256Hex } from '../../../../packages/cairn/src/core/encoding/hash.ts';
import {
  DECISIONS,
  type EventData,
  type EventDraft,
} from '../../../../packages/cairn/src/core/run/events.ts';
import { RECEIVED_IDS } from '../../../../packages/cairn/src/core/run/reduce/waits.ts';
import {
  feedbackFor,
  hasCompletionDuties,
  hasReceived,
} from '../../../../packages/cairn/src/core/run/state.ts';
import {
  bySystem,
  childOf,
  failedStep,
  grownBy,
  opened,
  questionOf,
  running,
  sentBack,
  settledStep,
  succeeded,
  T0,
  timerOf,
  waitOf,
} from '../journal-drafts.ts';

const resolved = (waitId: string, more: Partial<EventData['wait_resolved']> = {}): EventDraft => ({
  type: 'wait_resolved',
  initiator: 'approval',
  actor: 'ann',
  data: { waitId, ...more },
});
const expired = (waitId: string): EventDraft => ({
  type: 'wait_expired',
  initiator: 'timeout',
  data: { waitId },
});
const signal = (signalId: string): EventDraft =>
  bySystem('signal_received', { signalId, name: 'n', key: 'k', payloadText: '1' });

describe('a wait', () => {
  test('that opens makes its step wait, and stays open until it is answered or times out', () => {
    const state = grownBy(running(), [opened(waitOf('e'))]);
    expect(state.waits).toEqual([waitOf('e')]);
    expect(state.steps.get('e')).toEqual({ phase: 'waiting', seq: state.head, revision: 1 });
    expect(state.currentStep).toBe('e');
    expect(grownBy(state, [resolved('e.1')]).waits).toEqual([]);
    expect(grownBy(state, [expired('e.1')]).waits).toEqual([]);
  });

  test('is the only wait that its answer closes', () => {
    const state = grownBy(running(), [opened(waitOf('e')), opened(waitOf('f'))]);
    expect(grownBy(state, [resolved('e.1')]).waits.map(({ id }) => id)).toEqual(['f.1']);
  });

  test('that is not open can neither be answered nor expire', () => {
    const state = grownBy(running(), [opened(waitOf('e')), resolved('e.1')]);
    for (const late of [resolved('e.1'), expired('e.1')]) {
      expect(() => grownBy(state, [late])).toThrow("no open wait 'e.1'");
    }
  });
});

describe('an external registration of a wait', () => {
  const state = grownBy(running(), [
    opened(waitOf('e')),
    opened(childOf('kid', 'run_child')),
    opened(questionOf('gate')),
    opened(timerOf('nap')),
  ]);
  const place = { kind: 'event', waitId: 'e.1', name: 'n', key: 'k' };
  const child = { kind: 'child', waitId: 'kid.1', runId: 'run_child', onParentEnd: 'cancel' };

  test('is a place at a mailbox or a child; questions and timers have none', () => {
    expect(state.ties).toEqual([place, child]);
    expect(hasCompletionDuties(state)).toBe(true);
    expect(hasCompletionDuties(running())).toBe(false);
    expect(hasCompletionDuties(running({ parent: { runId: 'p', stepId: 's' } }))).toBe(true);
  });

  test('ends when the child has reported its end', () => {
    expect(grownBy(state, [resolved('kid.1')]).ties).toEqual([place]);
  });

  test('stays if a child timed out, because the child still runs', () => {
    expect(grownBy(state, [expired('kid.1')]).ties).toEqual([place, child]);
  });

  test('stays after an event or a timeout, and is removed at the end', () => {
    expect(grownBy(state, [resolved('e.1', { signalId: 'x' })]).ties).toEqual([
      { ...place, eventId: 'x' },
      child,
    ]);
    expect(grownBy(state, [expired('e.1')]).ties).toEqual([place, child]);
  });

  test('stays if its step was sent back', () => {
    expect(grownBy(state, [sentBack('gate.1', ['kid', 'e', 'gate'])]).ties).toEqual([place, child]);
  });
});

test('an event that a wait received is remembered until the run ends, even after many signals', () => {
  const signals = Array.from({ length: RECEIVED_IDS + 1 }, (_, i) => signal(`s${i}`));
  const state = grownBy(running(), [opened(waitOf('e')), resolved('e.1', { signalId: 'x' }), ...signals]);
  expect(state.received).not.toContain('x');
  expect(hasReceived(state, 'x')).toBe(true);
  expect(hasReceived(state, 'y')).toBe(false);
});

describe('a decision', () => {
  const asking = grownBy(running(), [opened(questionOf('gate'))]);

  test.each(DECISIONS)('%s is remembered with its author and content', (decision) => {
    const payloadText = '{"note":"n"}';
    const state = grownBy(asking, [resolved('gate.1', { decision, payloadText })], T0 + 5);
    expect(state.decisions).toEqual([
      {
        stepId: 'gate',
        waitId: 'gate.1',
        decision,
        payloadHash: sha256Hex(payloadText),
        actor: 'ann',
        at: T0 + 5,
      },
    ]);
  });

  test('by expiry is remembered too, for answers that come later', () => {
    const [entry] = grownBy(asking, [expired('gate.1')]).decisions;
    expect(entry).toMatchObject({ decision: 'expired', waitId: 'gate.1', payloadHash: sha256Hex('') });
    expect(entry).not.toHaveProperty('actor');
  });

  test('of a step is the newest one only', () => {
    const again = questionOf('gate', {
      id: 'gate.2',
      execution: { ...questionOf('gate').execution, revision: 2 },
    });
    const state = grownBy(asking, [
      opened(questionOf('other')),
      resolved('other.1', { decision: 'reject' }),
      resolved('gate.1', { decision: 'retry_with_feedback' }),
      sentBack('gate.1', ['gate']),
      opened(again),
      resolved('gate.2', { decision: 'approve' }),
    ]);
    expect(state.decisions.map(({ waitId, decision }) => [waitId, decision])).toEqual([
      ['other.1', 'reject'],
      ['gate.2', 'approve'],
    ]);
  });

  test('is not set by an event or a child', () => {
    const state = grownBy(running(), [
      opened(waitOf('e')),
      opened(childOf('kid', 'c')),
      opened(waitOf('f')),
      resolved('e.1', { signalId: 'x' }),
      resolved('kid.1'),
      expired('f.1'),
    ]);
    expect(state.decisions).toEqual([]);
  });
});

describe('a signal', () => {
  test('stays unread until a wait takes it, and is remembered after that', () => {
    const state = grownBy(running(), [signal('x'), signal('y'), opened(waitOf('e'))], T0);
    expect(state.unread[0]).toEqual({ signalId: 'x', name: 'n', key: 'k', payloadText: '1', at: T0 });
    const taken = grownBy(state, [resolved('e.1', { signalId: 'x' })]);
    expect(taken.unread.map(({ signalId }) => signalId)).toEqual(['y']);
    expect(taken.received).toEqual(['x', 'y']);
  });

  test('that is received directly by its wait is remembered, too', () => {
    const state = grownBy(running(), [opened(waitOf('e')), resolved('e.1', { signalId: 'z' })]);
    expect([state.unread, state.received]).toEqual([[], ['z']]);
  });

  test('is forgotten after a fixed number of others', () => {
    const many = Array.from({ length: RECEIVED_IDS + 2 }, (_, i) => signal(`s${i}`));
    const { received } = grownBy(running(), many);
    expect(received).toHaveLength(RECEIVED_IDS);
    expect([received[0], received.at(-1)]).toEqual(['s2', `s${RECEIVED_IDS + 1}`]);
  });
});

describe('feedback', () => {
  const before = grownBy(running(), [
    succeeded('u'),
    succeeded('aside'),
    failedStep('m', { itemKey: '0' }),
    succeeded('m', { itemKey: '1' }),
    succeeded('m'),
    bySystem('run_released', {
      reason: 'budget',
      inFlight: [
        { stepId: 'aside', revision: 1 },
        { stepId: 'm', itemKey: '2', revision: 1 },
      ],
    }),
    opened(questionOf('gate')),
    opened(waitOf('e')),
    opened(waitOf('other')),
  ]);
  const again = ['u', 'm', 'gate', 'e', 'new'];
  const after = grownBy(before, [sentBack('gate.1', again)]);

  test('begins the next revision of every step it concerns, begun or not', () => {
    for (const id of again) {
      expect(after.steps.get(id)).toEqual({ phase: 'again', seq: after.head, revision: 2 });
    }
  });

  test('leaves every other step as it is', () => {
    for (const id of ['aside', 'other']) expect(after.steps.get(id)).toBe(before.steps.get(id));
  });

  test('drops the items, the waits and the attempts in flight of the steps it concerns', () => {
    expect([...after.steps.keys()].filter((key) => key.startsWith('m'))).toEqual(['m']);
    expect(after.waits.map(({ id }) => id)).toEqual(['other.1']);
    expect(after.inFlight).toEqual([{ stepId: 'aside', revision: 1 }]);
  });

  test('is given to the steps it concerns, and to no other', () => {
    expect(feedbackFor(after, 'm')).toBe('once more');
    expect(feedbackFor(after, 'aside')).toBeUndefined();
  });

  test('given again replaces the earlier one only for the steps it concerns', () => {
    const revision = 2;
    const state = grownBy(after, [
      succeeded('u', { revision }),
      succeeded('m', { revision }),
      opened(questionOf('gate', { id: 'gate.2', execution: { ...questionOf('gate').execution, revision } })),
      sentBack('gate.2', ['m', 'gate'], { feedback: 'and again' }),
    ]);
    expect(state.feedback).toEqual([
      { seq: after.head, steps: ['u', 'e', 'new'], text: 'once more' },
      { seq: state.head, steps: ['m', 'gate'], text: 'and again' },
    ]);
    expect(state.steps.get('m')).toMatchObject({ phase: 'again', revision: 3 });
    expect(state.steps.get('u')).toMatchObject({ phase: 'done', revision: 2 });
    const all = grownBy(state, [sentBack('x', again)]);
    expect(all.feedback).toHaveLength(1);
  });

  test('for a step in doubt begins the step again like any other', () => {
    const doubt = questionOf('pay', { purpose: 'doubt', execution: { ...settledStep('pay'), kind: 'step' } });
    const state = grownBy(before, [opened(doubt), sentBack('gate.1', ['pay', 'gate'])]);
    expect(state.waits.map(({ id }) => id)).toEqual(['e.1', 'other.1']);
    expect(state.steps.get('pay')).toMatchObject({ phase: 'again', revision: 2 });
  });
});
