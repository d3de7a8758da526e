import { expect, test } from '@jest/globals';
import { enqueueSoon, QUEUE_WAIT_MS } from '../../../packages/cairn/src/engine/enqueue-soon.ts';
import { settle, VirtualClock } from '../../support/virtual-clock.ts';
import { SILENT } from '../../support/world.ts';

function world(enqueue: () => Promise<void>) {
  const lines: string[] = [];
  const clock = new VirtualClock();
  const note = (event: string) => void lines.push(event);
  return { lines, deps: { clock, queue: { enqueue }, log: { ...SILENT, warn: note, error: note } } };
}

test('a wait for a silent queue ends after two seconds, and is logged', async () => {
  const { deps, lines } = world(() => new Promise(() => {}));
  const sent = enqueueSoon(deps, { runId: 'run_1', reason: 'start' });
  await settle();
  const askedAt = deps.clock.now();
  expect(deps.clock.fireNext()).toBe(true);
  expect(deps.clock.now() - askedAt).toBe(QUEUE_WAIT_MS);
  await sent;
  expect(lines).toEqual(['enqueue_unanswered']);
});

test('a queue that answers leaves no timer and no log line', async () => {
  const { deps, lines } = world(async () => {});
  await enqueueSoon(deps, { runId: 'run_1', reason: 'start' });
  await settle();
  expect([deps.clock.nextAt, lines]).toEqual([undefined, []]);
});

test('a queue that refuses is logged and fails no caller', async () => {
  const { deps, lines } = world(async () => {
    throw new Error('no such queue');
  });
  await enqueueSoon(deps, { runId: 'run_1', reason: 'start' });
  expect(lines).toEqual(['enqueue_failed']);
});
