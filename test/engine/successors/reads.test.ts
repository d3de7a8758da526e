/** Steps that declare what they read of the input are taken over by a fork that changes something else. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { Outside } from '../../support/outside.ts';
import { driven, preview, resultOf, reusedIn } from '../../support/successors.ts';
import { World } from '../../support/world.ts';

const input = z.object({ repo: z.string(), note: z.string().optional(), size: z.number() });
const INPUT = { repo: 'acme/site', note: 'first', size: 3 };

function installation() {
  const ran: string[] = [];
  const outside = new Outside();
  const workflow = defineWorkflow({
    type: 'reading',
    planVersion: 1,
    input,
    steps(step) {
      const cloned = step(
        'clone',
        { reads: ['repo'], uses: [outside.capability] },
        async ({ input, perform }) => {
          ran.push('clone');
          await perform(outside.capability, { text: input.repo });
          return `a copy of ${input.repo}`;
        },
      );
      const parts = step.map(
        'measure',
        { needs: { cloned }, reads: ['size'], over: ({ input }) => [...Array(input.size).keys()] },
        ({ item }) => {
          ran.push(`measure ${item}`);
          return item;
        },
      );
      const gate = step.sleep('rest', { needs: { cloned }, reads: [], for: '1s' });
      const told = step('tell', { needs: { cloned, parts, gate } }, ({ input, cloned, parts }) => {
        ran.push('tell');
        return `${cloned} in ${parts.length} parts: ${input.note}`;
      });
      return { told };
    },
  });
  return { ran, outside, world: new World({ workflows: [workflow], bindings: [outside.binding] }) };
}

async function forked(changes: object) {
  const { ran, outside, world } = installation();
  const runId = await world.start('reading', INPUT);
  await world.run();
  ran.length = 0;
  const fork = { input: { value: { ...INPUT, ...changes } } };
  const { steps } = await preview(world, 'fork', runId, fork);
  const state = await driven(world, 'fork', runId, fork);
  const foretold = steps?.flatMap(({ id, action }) => (action === 'reused' ? [id] : []));
  const taken = reusedIn(world, state.id).filter((id) => !id.includes('['));
  expect([...taken].sort()).toEqual([...(foretold ?? [])].sort());
  return { ran, outside, taken, status: state.status, result: await resultOf(world, state) };
}

describe('a fork with another input', () => {
  test('reuses the steps that read none of the changed members, as its preview said, and runs the others', async () => {
    const { ran, outside, taken, status, result } = await forked({ note: 'second' });
    expect(status).toBe('completed');
    expect(taken.sort()).toEqual(['clone', 'measure', 'rest']);
    expect(ran).toEqual(['tell']);
    expect(outside.calls).toBe(1);
    expect(result).toEqual({ told: 'a copy of acme/site in 3 parts: second' });
  });

  test('runs a set again whose input has changed, and its dependents', async () => {
    const { ran, taken } = await forked({ size: 2 });
    expect(taken.sort()).toEqual(['clone', 'rest']);
    expect(ran).toEqual(['measure 0', 'measure 1', 'tell']);
  });

  test('runs all dependents of a step whose input has changed', async () => {
    const { taken, outside } = await forked({ repo: 'acme/shop' });
    expect(taken).toEqual([]);
    expect(outside.applied.map(({ text }) => text)).toEqual(['acme/site', 'acme/shop']);
  });

  test('treats a missing member as a change only where it is read', async () => {
    const { taken } = await forked({ note: undefined });
    expect(taken.sort()).toEqual(['clone', 'measure', 'rest']);
  });
});

test('a step that reads undeclared members fails at once, with the reason', async () => {
  const workflow = defineWorkflow({
    type: 'sly',
    planVersion: 1,
    input,
    steps: (step) => ({
      read: step('read', { reads: ['repo'], retry: { maxAttempts: 1 } }, ({ input }) => input.size),
    }),
  });
  const world = new World({ workflows: [workflow] });
  const runId = await world.start('sly', INPUT);
  await world.run();
  expect(world.stateOf(runId).error?.message).toBe("step 'read' does not list 'size' in 'reads'");
});

test('a definition may name only members of its input', () => {
  const define = (reads: unknown) =>
    defineWorkflow({
      type: 'wrong',
      planVersion: 1,
      input,
      steps: (step) => ({ read: step('read', { reads: reads as ['repo'] }, () => 1) }),
    });
  expect(() => define('repo')).toThrow("'reads' must be a list of member names");
  expect(() => define([1])).toThrow("'reads' must be a list of member names");
});
