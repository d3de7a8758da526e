import { expect, test } from '@jest/globals';
import { moveOf } from '../../packages/client/src/explain/moves.ts';
import { waitingText, waitLine } from '../../packages/client/src/wait-text.ts';

type Wait = Parameters<typeof waitLine>[0] & Parameters<typeof waitingText>[0][number];

const AT = '2026-01-01T00:00:00.000Z';
const wait = (kind: string, step = 'ask', more: object = {}) =>
  ({ id: `${step}.1`, kind, execution: { stepId: step }, openedAt: AT, ...more }) as unknown as Wait;

test('a wait for a budget is named before others, with its times', () => {
  const budget = wait('approval', 'ask', { purpose: 'budget' });
  const waits = [wait('approval', 'sign', { openedAt: 'later' }), wait('event'), budget];
  expect(waitingText(waits)).toEqual({
    text: 'Step ask waits because the run has reached its budget. 2 other waits are open.',
    since: AT,
    waitId: 'ask.1',
  });
});

test('the sentence has the id of the wait that it names, and none if it counts several', () => {
  expect(waitingText([wait('event', 'parcel'), wait('approval', 'sign')]).waitId).toBe('sign.1');
  expect(waitingText([wait('approval'), wait('approval', 'sign')]).waitId).toBeUndefined();
  expect(waitingText([]).waitId).toBeUndefined();
});

test.each<[purpose: string | undefined, one: string, two: string]>([
  [undefined, 'Step ask waits for approval.', 'Waiting for 2 approvals.'],
  [
    'doubt',
    'Step ask was interrupted and may have acted: a person must decide how to continue.',
    'Waiting for 2 decisions about interrupted steps.',
  ],
  [
    'effect',
    'Step ask asks about a side effect: a person must answer.',
    'Waiting for 2 answers about side effects.',
  ],
])('questions of purpose %s are counted, and others beside them', (purpose, one, two) => {
  const textOf = (...waits: readonly Wait[]) => waitingText(waits).text;
  const asked = wait('approval', 'ask', { purpose });
  const other = wait('approval', 'sign', { purpose: purpose === 'effect' ? 'doubt' : 'effect' });
  expect(textOf(asked)).toBe(one);
  expect(textOf(asked, asked)).toBe(two);
  expect(textOf(asked, other)).toBe(`${one} 1 other wait is open.`);
  expect(textOf(asked, other, wait('timer'))).toBe(`${one} 2 other waits are open.`);
});

test('an unknown kind or purpose, from a newer version, has a text', () => {
  for (const one of [wait('quorum'), wait('approval', 'ask', { purpose: 'quorum' })]) {
    expect(waitingText([one, one]).text).toMatch(/^Step ask waits( for approval)?\. 1 other wait is open\.$/);
    expect(waitLine(one)).toMatch(/^ask waits/);
    expect(moveOf('run_1', one) ?? { what: 'no move' }).toMatchObject({ what: expect.any(String) });
  }
});
