import { describe, expect, test } from '@jest/globals';
import type { RunEvent } from '../../packages/cairn/src/core/run/events.ts';
import { StepOutputs } from '../../packages/cairn/src/engine/drive/outputs.ts';
import { assertLively } from './liveness.ts';
import { trial } from './trial.ts';

const event = (type: string, data: object = {}) => ({ type, data }) as unknown as RunEvent;
const retry = event('step_retry_scheduled', { stepId: 'send', itemKey: '7', revision: 1 });
const turn = [event('run_claimed'), event('run_released')];

test('a run that claims and releases without progress is reported', () => {
  const begun = [event('run_created'), event('run_started')];
  expect(() => assertLively([...begun, ...turn])).not.toThrow();
  const spinning = Array.from({ length: 20 }, () => turn).flat();
  expect(() => assertLively([...begun, ...spinning])).toThrow('spins');
});

test('an item that is retried for ever is reported, however much progress others make', () => {
  const done = Array.from({ length: 100 }, () => event('step_succeeded'));
  expect(() => assertLively([...done, retry, retry])).not.toThrow();
  expect(() => assertLively([...done, ...Array.from({ length: 5 }, () => retry)])).toThrow("'send[7] #1'");
});

describe('the memory of a dispatch', () => {
  const repertoire = { kinds: { step: 1 }, maxSteps: 10, extras: false } as const;
  const SEEDS = 20;

  async function firstFailure(): Promise<string> {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      try {
        await trial({ seed, repertoire });
      } catch (error) {
        return String(error);
      }
    }
    return 'none';
  }

  test('stays within its budget', async () => {
    expect(await firstFailure()).toBe('none');
  });

  test('exceeds it if outputs are kept that nothing needs any more', async () => {
    const { release } = StepOutputs.prototype;
    Object.assign(StepOutputs.prototype, { release() {} });
    try {
      expect(await firstFailure()).toMatch(/keeps the \d+ bytes of .* which nothing needs any more/);
    } finally {
      Object.assign(StepOutputs.prototype, { release });
    }
  });
});
