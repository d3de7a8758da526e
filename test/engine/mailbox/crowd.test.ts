/**
 * The maximum of runs that may wait for one event, driven by several processes. The store accepts one write a second for a
 * document and refuses the others, like Firestore for a contended document.
 */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { MAX_WAITING } from '../../../packages/cairn/src/core/mailbox/limits.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { EngineDeps } from '../../../packages/cairn/src/engine/deps.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { deliver } from '../../../packages/cairn/src/engine/mailbox/deliver.ts';
import { PRODUCTION_SETTINGS } from '../../../packages/cairn/src/engine/settings.ts';
import { OutcomeUnknown } from '../../../packages/cairn/src/ports/store-errors.ts';
import { intercept } from '../../support/intercept.ts';
import { settle } from '../../support/virtual-clock.ts';
import { World } from '../../support/world.ts';

const PLACE = { tenantId: 't1', event: 'built', key: 'main' };
const PROCESSES = 8;
const WRITE_EVERY_MS = 1_000;

const waits = defineWorkflow({
  type: 'crowd',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({ built: step.event('built', { event: PLACE.event, key: () => PLACE.key }) }),
});

class Crowd {
  readonly world = new World({ workflows: [waits], settings: PRODUCTION_SETTINGS });
  readonly processes: readonly EngineDeps[];
  readonly ends = new Map<string, number>();
  readonly thrown: unknown[] = [];
  writes = 0;
  refused = 0;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #next = 0;

  constructor() {
    this.processes = Array.from({ length: PROCESSES }, () => ({
      ...this.world.deps,
      mailboxes: intercept(this.world.deps.mailboxes, ({ method }, proceed) => this.#call(method, proceed)),
    }));
  }

  async #call(method: string, proceed: () => Promise<unknown>): Promise<unknown> {
    if (method !== 'write') return proceed();
    const now = this.world.clock.now();
    if (now - this.#writtenAt < WRITE_EVERY_MS) {
      this.refused += 1;
      throw new OutcomeUnknown('write', 'ABORTED: too much contention on these documents');
    }
    const result = await proceed();
    this.writes += 1;
    this.#writtenAt = now;
    return result;
  }

  /** Delivers every task to the next process, and advances time until `until` is true. */
  async run(until: () => boolean): Promise<void> {
    const { queue, clock } = this.world;
    for (let turn = 0; turn < 100_000; turn += 1) {
      await settle();
      if (until()) return;
      const due = queue.due(clock.now());
      for (const { id, runId } of due) {
        queue.take(id);
        const deps = this.processes[this.#next++ % PROCESSES] ?? this.world.deps;
        drive(deps, { runId }).then(
          (end) => this.ends.set(end, (this.ends.get(end) ?? 0) + 1),
          (error: unknown) => this.thrown.push(error),
        );
      }
      if (due.length > 0) continue;
      const at = Math.min(
        clock.nextAt ?? Number.POSITIVE_INFINITY,
        queue.nextAt() ?? Number.POSITIVE_INFINITY,
      );
      if (!clock.fireNext(at)) clock.jump(Math.max(1, at - clock.now()));
    }
    throw new Error('it does not come to rest');
  }

  with(status: string): number {
    return [...this.world.db.runs.values()].filter(({ snapshot }) => snapshot.status === status).length;
  }

  get mostEvents(): number {
    return Math.max(...[...this.world.db.runs.values()].map(({ events }) => events.length));
  }
}

test('the maximum of runs joins one event at one write a second: all wait, none throws or counts as dead, with few writes', async () => {
  const crowd = new Crowd();
  const { world } = crowd;
  for (let i = 0; i < MAX_WAITING; i += 1) await world.start('crowd');
  const begun = world.clock.now();
  await crowd.run(() => crowd.with('waiting_external') === MAX_WAITING);
  const tookMs = world.clock.now() - begun;
  const [place] = world.db.mailboxes.values();
  expect(place?.mailbox.waiting).toHaveLength(MAX_WAITING);
  expect(crowd.thrown).toEqual([]);
  expect(crowd.mostEvents).toBeLessThanOrEqual(10);
  expect(tookMs).toBeLessThan(5 * 60_000);
  expect(crowd.writes).toBeLessThanOrEqual(tookMs / WRITE_EVERY_MS + 1);
  expect(crowd.refused).toBeLessThan(20 * PROCESSES);

  const [sender = world.deps] = crowd.processes;
  let delivered: string | undefined;
  deliver(sender, PLACE, { eventId: 'e', dataText: '{}' }).then(
    ({ outcome }) => (delivered = outcome.kind),
    (error: unknown) => crowd.thrown.push(error),
  );
  await crowd.run(() => crowd.with('completed') === MAX_WAITING && delivered !== undefined);
  expect(delivered).toBe('delivered');
  expect(crowd.thrown).toEqual([]);
  expect(crowd.with('failed')).toBe(0);
  expect(crowd.mostEvents).toBeLessThanOrEqual(20);
});

test('a run that cannot join for hours releases its lease each time, with growing delays, and joins once it can', async () => {
  const world = new World({ workflows: [waits] });
  let up = false;
  const mailboxes = intercept(world.deps.mailboxes, async (_, proceed) => {
    if (!up) throw new OutcomeUnknown('read', 'UNAVAILABLE');
    return proceed();
  });
  const deps = { ...world.deps, mailboxes };
  const id = await world.start('crowd');
  const begun = world.clock.now();
  await world.run(() => world.clock.now() > begun + 6 * 3_600_000, deps);
  const types = await world.eventTypes(id);
  expect(types).not.toContain('orphan_detected');
  expect(types.length).toBeLessThan(60);
  up = true;
  await world.run(() => world.db.runs.get(id)?.snapshot.status === 'waiting_external', deps);
  expect([...world.db.mailboxes.values()][0]?.mailbox.waiting).toHaveLength(1);
});
