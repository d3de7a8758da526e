import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import type { RetentionOptions } from '../../../packages/cairn/src/engine/define/retention.ts';
import { retentionIn } from '../../../packages/cairn/src/engine/define/retention.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';

const DAY = 86_400_000;

function kept(retention?: RetentionOptions, planVersion = 1) {
  return defineWorkflow({
    type: 'review',
    planVersion,
    input: z.object({}),
    ...(retention ? { retention } : {}),
    steps: (step) => ({ one: step('one', () => 1) }),
  });
}

describe('the retention of runs', () => {
  test('is set per way of ending, in days, years or ms, or for ever', () => {
    expect(kept({ completed: '90d', failed: '1y', cancelled: 'forever' }).retention).toEqual({
      completed: 90 * DAY,
      failed: 365 * DAY,
      cancelled: 'forever',
    });
    expect(kept({ completed: DAY }).retention).toEqual({ completed: DAY });
    expect(kept().retention).toEqual({});
  });

  test.each([
    [{ completed: '23h' }, 'retention.completed'],
    [{ failed: 'always' }, 'retention.failed'],
    [{ cancelled: -1 }, 'retention.cancelled'],
    [{ completed: '101y' }, 'retention.completed'],
    [{ running: '90d' } as RetentionOptions, 'retention.running'],
  ])('%j is refused, naming the member', (retention, field) => {
    expect(() => kept(retention)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
    expect(() => kept(retention)).toThrow(field);
  });

  test('is that of the newest version, and without one that of the installation', () => {
    const registry = new WorkflowRegistry([
      kept({ completed: '2d', failed: '3d' }),
      kept({ completed: '5d' }, 2),
    ]);
    const of = retentionIn(registry, 30 * DAY);
    expect([of('review', 'completed'), of('review', 'failed'), of('gone', 'failed')]).toEqual([
      5 * DAY,
      30 * DAY,
      30 * DAY,
    ]);
    expect(retentionIn(registry, undefined)('review', 'failed')).toBeUndefined();
  });
});
