import { afterAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { MAX_FLOW_OPERATIONS } from '../../../packages/cairn/src/core/flow/names.ts';
import { MAX_TURNS, MAX_TURNS_IN_A_RUN } from '../../../packages/cairn/src/core/flow/parts.ts';
import { defineBinding, defineCapability } from '../../../packages/cairn/src/engine/define/capability.ts';
import { MAX_STATE_BYTES } from '../../../packages/cairn/src/engine/define/flow/loop-step.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { PRODUCTION_SETTINGS } from '../../../packages/cairn/src/engine/settings.ts';
import { createTestRuntime } from '../../../packages/cairn/src/testing/index.ts';
import { readDocument, writeSnippets } from '../snippets.ts';

const snippets = writeSnippets('docs/flows.md');
afterAll(() => snippets.remove());

type Status = 'waiting' | 'delivered' | 'lost';

async function shipping(...statuses: Status[]) {
  const { shipOrder } = (await import(snippets.at('functions/src/workflows/ship-order.ts'))) as {
    shipOrder: (label: unknown, statusOf: () => Promise<Status>) => Workflow;
  };
  let labels = 0;
  const label = defineCapability({
    id: 'carrier.label',
    sideEffects: 'external_action',
    idempotency: 'required',
    request: z.object({ order: z.string() }),
    response: z.object({ parcel: z.string() }),
  });
  const binding = defineBinding(label, {
    id: 'carrier-stand-in',
    call: async ({ order }) => {
      labels += 1;
      return { parcel: `parcel of ${order}` };
    },
  });
  const workflow = shipOrder(label, async () => statuses.shift() ?? 'waiting');
  const runtime = createTestRuntime({ workflows: [workflow], bindings: [binding] });
  const run = await runtime.start('ship-order', { order: 'o-1' });
  return { runtime, run, labels: () => labels };
}

describe('the flow of docs/flows.md', () => {
  test('asks the carrier each day, and creates one label', async () => {
    const { runtime, run, labels } = await shipping('waiting', 'waiting', 'delivered');
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({ output: { parcel: 'parcel of o-1', days: 3 } });
    expect(labels()).toBe(1);
    expect(run.steps().map(({ id }) => id)).toContain('flow[ask-carrier.3]');
  });

  test('asks a person about a lost parcel, and undoes the reservation when it fails', async () => {
    const { runtime, run } = await shipping('lost');
    await runtime.settle();
    await runtime.decide(run, 'reject', { step: 'flow[send-again]' });
    expect(await runtime.runToEnd(run)).toBe('failed');
    expect(run.error()?.message).toBe('order o-1 was not delivered');
    expect(run.compensations().map(({ stepId }) => stepId)).toEqual(['flow[reserve]']);
  });
});

describe('the loop of docs/flows.md', () => {
  test('asks the carrier until the parcel arrives, more often at first', async () => {
    const { trackParcel } = (await import(snippets.at('functions/src/workflows/track-parcel.ts'))) as {
      trackParcel: (statusOf: () => Promise<Status>) => Workflow;
    };
    const statuses: Status[] = ['waiting', 'waiting', 'waiting', 'waiting', 'waiting'];
    const workflow = trackParcel(async () => statuses.shift() ?? 'delivered');
    const runtime = createTestRuntime({ workflows: [workflow] });
    const run = await runtime.start('track-parcel', { parcel: 'p-1' });
    const before = runtime.now();
    expect(await runtime.runToEnd(run)).toBe('completed');
    expect(await run.result()).toEqual({ tracked: { status: 'delivered', asked: 6 } });
    expect(runtime.now() - before).toBeGreaterThanOrEqual((3 + 2 * 12) * 3_600_000);
    expect(run.steps().map(({ id }) => id)).toContain('ask-carrier[turn.6]');
  });
});

test.each([
  [`up to ${MAX_TURNS.toLocaleString('en')}. A loop`],
  [`a \`max\` of more than ${MAX_TURNS_IN_A_RUN.toLocaleString('en')} takes its first`],
  [`its first ${PRODUCTION_SETTINGS.turnsOfARun.toLocaleString('en')} turns in its run`],
  [`at most ${MAX_STATE_BYTES / 1024} KiB; a larger one`],
  [`at most ${MAX_FLOW_OPERATIONS.toLocaleString('en')}`],
  [`| \`timeout\` | ${PRODUCTION_SETTINGS.stepTimeoutMs / 60_000} minute |`],
])('docs/flows.md documents: %s', (bound) => {
  expect(readDocument('docs/flows.md').replaceAll('\n', ' ')).toContain(bound);
});
