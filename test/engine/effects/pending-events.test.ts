import { describe, expect, test } from '@jest/globals';
import type { RunState } from '../../../packages/cairn/src/core/run/state.ts';
import { PendingEvents } from '../../../packages/cairn/src/engine/effects/pending-events.ts';
import type { Decide } from '../../../packages/cairn/src/journal/batch.ts';
import { bySystem } from '../../core/run/journal-drafts.ts';

const settled = (effectId: string, outcome: 'recorded' | 'failed' | 'unknown' = 'recorded') =>
  bySystem('effect_settled', {
    stepId: 's',
    revision: 1,
    effectId,
    capabilityId: 'mail',
    outcome,
  } as never);

function pendingEvents() {
  const appends: number[] = [];
  const store = { isDown: false };
  const pending = new PendingEvents(async (decide: Decide) => {
    if (store.isDown) throw new Error('down');
    const events = decide({} as RunState);
    appends.push(events.length);
    return { state: {}, events } as never;
  });
  return { pending, appends, store };
}

describe('events about calls that are not in the journal', () => {
  test('are appended with the next ones, once', async () => {
    const { pending, appends } = pendingEvents();
    pending.note([settled('a')]);
    await pending.append(() => [settled('b')]);
    await pending.append(() => [settled('c')]);
    expect(appends).toEqual([2, 1]);
    expect(pending.take()).toEqual([]);
  });

  test('are kept in their order if the append adds nothing or fails', async () => {
    const { pending, appends, store } = pendingEvents();
    pending.note([settled('a'), settled('b')]);
    await pending.append(() => []);
    store.isDown = true;
    await expect(pending.append(() => [settled('c')])).rejects.toThrow('down');
    expect(appends).toEqual([0]);
    expect(pending.hasEnd('c')).toBe(false);
    expect(pending.take()).toEqual([settled('a'), settled('b')]);
  });

  test('that have no room in the append of the end are appended before', async () => {
    const { pending, appends } = pendingEvents();
    pending.note(Array.from({ length: 250 }, (_, n) => settled(`${n}`)));
    await pending.flush();
    expect(appends).toEqual([100, 100]);
    expect(pending.take()).toHaveLength(50);
  });

  test('say which effects have an end', async () => {
    const { pending } = pendingEvents();
    pending.note([settled('a'), settled('b', 'unknown')]);
    await pending.append(() => [settled('c', 'failed')]);
    expect(['a', 'b', 'c', 'd'].map((id) => pending.hasEnd(id))).toEqual([true, false, true, false]);
  });
});
