import { expect, test } from '@jest/globals';
import { wholeQueue } from '../../../packages/cairn/src/operations/diagnosis/observe.ts';
import type { SeenQueue } from '../../../packages/cairn/src/ports/diagnosis/queue-probe.ts';

const seen = (depth: number, oldestDueAt?: number, isCut = false): SeenQueue => ({
  kind: 'seen',
  state: 'running',
  tasks: { kind: 'counted', depth, isCut, oldestDueAt },
});
const queue = (name: string, state: SeenQueue, of?: string) => ({
  name,
  isAlone: false,
  seen: state,
  ...(of !== undefined && { of }),
});

test('counts the tasks of all queues between which the tenants are divided', () => {
  const queues = [
    queue('drive', seen(0)),
    queue('drive-heavy', seen(100, 1)),
    queue('drive-2', seen(3, 7), 'drive'),
    queue('drive-3', seen(4, 5, true), 'drive'),
    queue('drive-4', { kind: 'missing' }, 'drive'),
    queue('drive-heavy-2', seen(50, 2), 'drive-heavy'),
  ];
  expect(wholeQueue(queues)).toEqual(seen(7, 5, true));
});

test.each([{ kind: 'missing' }, { kind: 'denied' }] as const)('is $kind if the first queue is', (state) => {
  expect(wholeQueue([queue('drive', state), queue('drive-2', seen(3), 'drive')])).toEqual(state);
});

test('is unknown if none was inspected', () => {
  expect(wholeQueue([])).toBeUndefined();
});
