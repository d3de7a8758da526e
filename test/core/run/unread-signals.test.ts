import { describe, expect, test } from '@jest/globals';
import {
  hasRoom,
  MAX_UNREAD_BYTES,
  MAX_UNREAD_SIGNALS,
  signalsToCarry,
} from '../../../packages/cairn/src/core/run/data/unread-signals.ts';

const signal = (signalId: string, payloadText = '1') => ({ signalId, name: 'go', payloadText, at: 0 });
const many = (count: number, prefix = 's') =>
  Array.from({ length: count }, (_, i) => signal(`${prefix}${i}`));
const large = (signalId: string) => signal(signalId, 'x'.repeat(MAX_UNREAD_BYTES / 2));

describe('a run accepts an unread signal', () => {
  test.each([
    ['for the last of its signals', many(MAX_UNREAD_SIGNALS - 1), '1', true],
    ['for no signal more', many(MAX_UNREAD_SIGNALS), '1', false],
    ['for the last of its bytes', [large('a')], 'x'.repeat(MAX_UNREAD_BYTES / 2), true],
    ['for no byte more', [large('a')], 'x'.repeat(MAX_UNREAD_BYTES / 2 + 1), false],
    ['by bytes, not by characters', [large('a')], '\u754c'.repeat(MAX_UNREAD_BYTES / 4), false],
  ])('%s', (_, unread, dataText, expected) => {
    expect(hasRoom(unread, dataText)).toBe(expected);
  });
});

describe('a successor takes over signals', () => {
  const ids = (unread: ReturnType<typeof many>, received: string[], ofSource: ReturnType<typeof many>) =>
    signalsToCarry({ unread, received }, ofSource).map(({ signalId }) => signalId);

  test.each([
    ['nothing where nothing is unread', [], [], [], []],
    ['all that is unread, in order', [], [], many(3), ['s0', 's1', 's2']],
    ['none that it has received, be it read since', [], ['s1'], many(3), ['s0', 's2']],
    ['the oldest, as far as it has room', many(MAX_UNREAD_SIGNALS - 2, 'own'), [], many(3), ['s0', 's1']],
    [
      'a small one behind a large one that it has no room for',
      [large('own')],
      [],
      [large('a'), large('b'), signal('c')],
      ['a'],
    ],
  ])('%s', (_, unread, received, ofSource, expected) => {
    expect(ids(unread, received, ofSource)).toEqual(expected);
  });

  test('none twice if a dispatch died after it took over some', () => {
    const unread = many(MAX_UNREAD_SIGNALS);
    const once = signalsToCarry({ unread: [], received: [] }, unread);
    expect(once).toHaveLength(MAX_UNREAD_SIGNALS);
    const received = once.map(({ signalId }) => signalId);
    expect(signalsToCarry({ unread: once, received }, unread)).toEqual([]);
  });
});
