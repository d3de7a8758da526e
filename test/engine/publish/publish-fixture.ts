/** Runs whose events are published, and queries of the messages that arrived. */
import { z } from 'zod';
import { eventView } from '../../../packages/cairn/src/api/views/documents.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import type { BusMessage, EventBus } from '../../../packages/cairn/src/ports/runs/event-bus.ts';
import { MemoryEventBus } from '../../support/memory/memory-event-bus.ts';
import { World } from '../../support/world.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
/** Time within which the scan of each minute finds a run that nothing else touched. */
export const FOUND_MS = 2 * MINUTE;

const input = z.object({});

export const chain = defineWorkflow({
  type: 'chain',
  planVersion: 1,
  input,
  steps(step) {
    const one = step('one', async () => 1);
    const two = step('two', { needs: { one } }, async ({ one }) => one + 1);
    return { two };
  },
});

export const asking = defineWorkflow({
  type: 'asking',
  planVersion: 1,
  input,
  steps(step) {
    const gate = step.approval('gate', { ask: () => 'Go on?' });
    return { after: step('after', { needs: { gate } }, async () => 'done') };
  },
});

const sleeping = defineWorkflow({
  type: 'sleeping',
  planVersion: 1,
  input,
  steps: (step) => ({ night: step.sleep('night', { for: '8h' }) }),
});

/** A bus that can be down, and counts its calls. */
export class FlakyBus extends MemoryEventBus {
  down = false;
  asked = 0;

  override async publish(messages: readonly BusMessage[]): Promise<void> {
    this.asked += 1;
    if (this.down) throw new Error('the bus is down');
    await super.publish(messages);
  }
}

/** A bus that knows whether it has subscribers. */
export class KnownBus extends FlakyBus {
  heard = false;
  isReachable = () => this.heard;
}

export function worldWith(bus: EventBus | undefined): World {
  return new World({ workflows: [chain, asking, sleeping], ...(bus ? { bus } : {}) });
}

/** The messages of a run, by seq, each only the first time it arrived. */
export function firstArrivals(bus: MemoryEventBus, runId: string): BusMessage[] {
  const seen = new Set<string>();
  return bus.messages(runId).filter(({ attributes: { seq = '' } }) => !seen.has(seq) && seen.add(seq));
}

/** Events as `GET /v1/runs/{id}/events` shows them, as text. */
export async function shownBy(world: World, runId: string): Promise<string[]> {
  const events = await world.store.readEvents(runId, 0, 10_000);
  return events.map((event) => JSON.stringify(eventView(event)));
}

export function stored(world: World, runId: string) {
  const run = world.db.runs.get(runId);
  if (!run) throw new Error(`no run ${runId}`);
  return run;
}
