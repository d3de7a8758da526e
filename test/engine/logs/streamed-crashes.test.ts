/** A worker dies before or after each call of the store while a step streams. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { isOver } from '../../../packages/cairn/src/core/run/state.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { pause } from '../../../packages/cairn/src/ports/clock.ts';
import { intercept, never } from '../../support/intercept.ts';
import { MemoryLogStore } from '../../support/memory/memory-log-store.ts';
import { mortal } from '../../support/mortal.ts';
import { World } from '../../support/world.ts';
import { TextReader } from './text-reader.ts';

/** More calls than the run makes. */
const MAX_CALLS = 200;
const PAUSE_MS = 700;

/** @returns whether there was such a call */
async function diesAt(call: number, when: 'before' | 'after'): Promise<boolean> {
  const made: { world?: World } = {};
  let takes = 0;
  const talk = defineWorkflow({
    type: 'talk',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const said = step('say', { timeout: '5m' }, async ({ stream }) => {
        takes += 1;
        const pieces = [`Take ${takes}: `, 'the ', 'tide ', 'turns.'];
        for (const piece of pieces) {
          stream(piece);
          if (made.world) await pause(made.world.clock, PAUSE_MS);
        }
        return pieces.join('');
      });
      const next = step('next', { needs: { said } }, () => 1);
      return { said, last: step('last', { needs: { next } }, () => 1) };
    },
  });
  const world = new World({ workflows: [talk] });
  made.world = world;
  const runId = await world.start('talk');
  let calls = 0;
  let isDead = false;
  const store = intercept(world.deps.store, async (_, proceed) => {
    calls += 1;
    if (calls !== call) return proceed();
    if (when === 'after') await proceed();
    isDead = true;
    worker.kill();
    return never();
  });
  const worker = mortal({ ...world.deps, store }, 50);
  await world.run(() => isDead || isOver(world.stateOf(runId)), worker.deps);
  const reader = new TextReader(new MemoryLogStore(world.db), runId);
  await reader.read();
  world.clock.jump(world.deps.settings.leaseMs + 1);
  await world.run(() => isOver(world.stateOf(runId)));
  await reader.read();
  const { status, result } = world.stateOf(runId);
  expect(status).toBe('completed');
  if (result === undefined || !('text' in result)) throw new Error('the run has no result');
  const { said } = JSON.parse(result.text) as { said: string };
  const where = { call, when };
  expect({ ...where, text: reader.texts.get('say') }).toMatchObject({
    ...where,
    text: { text: said, state: 'whole' },
  });
  return isDead;
}

test.each(['before', 'after'] as const)(
  'a worker that dies %s any call leaves only the text of its successor',
  async (when) => {
    let call = 1;
    while (call < MAX_CALLS && (await diesAt(call, when))) call += 1;
    expect(call).toBeGreaterThan(8);
    expect(call).toBeLessThan(MAX_CALLS);
  },
);
