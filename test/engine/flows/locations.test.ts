/** Source locations of a flow's operations in the journal, the steps and the run. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { runAgent } from '../../../packages/agents/src/index.ts';
import { scriptedModel } from '../../../packages/agents/src/scripted.ts';
import { stepRecordOf } from '../../../packages/cairn/src/core/run/records.ts';
import type { Flow } from '../../../packages/cairn/src/engine/define/flow/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { callsAbove } from '../../../packages/cairn/src/engine/drive/flows/calls-above.ts';
import { FileSourceLocations } from '../../../packages/cairn/src/platform/sources/source-locations.ts';
import type { CodePosition, SourceLocations } from '../../../packages/cairn/src/ports/source-locations.ts';
import { World } from '../../support/world.ts';

const HERE = 'test/engine/flows/locations.test.ts';
const text = readFileSync(fileURLToPath(import.meta.url), 'utf8');

/** The line of this file that ends with the mark. */
function lineOf(mark: string): string {
  const line = text.split('\n').findIndex((each) => each.endsWith(`// ${mark}`));
  if (line < 0) throw new Error(`no line ends with ${mark}`);
  return `${HERE}:${line + 1}`;
}

type Code = (flow: Flow<Record<never, never>>) => Promise<unknown>;

async function run(code: Code, sources: SourceLocations | undefined = new FileSourceLocations()) {
  const workflow = defineWorkflow({ type: 'w', planVersion: 1, input: z.object({}), run: code });
  const world = new World({ workflows: [workflow], sources });
  const id = await world.start('w');
  return { world, id };
}

/** By key: the location in the newest event of each operation. */
async function located(world: World, id: string): Promise<Record<string, string | undefined>> {
  const locations: Record<string, string | undefined> = {};
  for (const event of await world.store.readEvents(id, 0, 1_000)) {
    const record = stepRecordOf(event, 1);
    if (record?.id.includes('[')) locations[record.id] = record.location;
  }
  return locations;
}

describe('the journal has the location in the code', () => {
  test('of operations one after another, at once, in a helper, and for each item of a map', async () => {
    const helped = async (flow: Flow<Record<never, never>>) => flow.step('helped', () => 1); // helped
    const { world, id } = await run(async (flow) => {
      await flow.step('one', () => 1); // one
      await Promise.all([
        flow.step('left', () => 1), // left
        flow.random('right'), // right
      ]);
      await helped(flow);
      await flow.map('send', [1, 2, 3], () => 1, { concurrency: 1 }); // send
      return flow.now(); // now
    });
    await world.run();
    expect(world.stateOf(id).status).toBe('completed');
    expect(await located(world, id)).toEqual({
      'flow[one]': lineOf('one'),
      'flow[left]': lineOf('left'),
      'flow[right]': lineOf('right'),
      'flow[helped]': lineOf('helped'),
      'flow[send[0]]': lineOf('send'),
      'flow[send[1]]': lineOf('send'),
      'flow[send[2]]': lineOf('send'),
      'flow[now]': lineOf('now'),
    });
  });

  test('of waits, which the run itself has too, and of failures and retries', async () => {
    const { world, id } = await run(async (flow) => {
      await flow
        .step('refused', () => Promise.reject(new Error('no')), { retry: { maxAttempts: 1 } }) // refused
        .catch(() => {});
      const later = flow.step('again', () => Promise.reject(new Error('not yet')), {
        retry: { maxAttempts: 9, initialMs: 600_000, capMs: 600_000 },
      });
      await Promise.all([later, flow.event('paid', { key: 'k' }), flow.approval('release', 'Release?')]); // paid
    });
    await world.run(() => world.stateOf(id).waits.length === 2);
    expect(world.stateOf(id).waits.map(({ execution }) => execution.location)).toEqual([
      lineOf('paid'),
      lineOf('paid'),
    ]);
    const { 'flow[refused]': refused, 'flow[again]': again } = await located(world, id);
    expect([refused, again]).toEqual([lineOf('refused'), expect.stringContaining(HERE)]);
  });

  test('of an agent, which is the place in the flow that runs it', async () => {
    const { world, id } = await run(async (flow) => {
      const options = { model: scriptedModel([{ text: 'Done.' }]), prompt: 'Go.' };
      const result = await runAgent(flow, options); // agent
      return result.text;
    });
    await world.run();
    expect(await located(world, id)).toEqual({ 'flow[model]': lineOf('agent') });
  });

  test('except for the turns of a loop, whose code is in the engine', async () => {
    const workflow = defineWorkflow({
      type: 'w',
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({
        out: step.loop('count', {
          state: () => 0,
          while: ({ state }) => state < 2,
          max: 5,
          body: async ({ state }) => state + 1,
        }),
      }),
    });
    const world = new World({ workflows: [workflow], sources: new FileSourceLocations() });
    const id = await world.start('w');
    await world.run();
    expect(await located(world, id)).toEqual({ 'count[turn]': undefined, 'count[turn.2]': undefined });
  });
});

describe('a location in the code', () => {
  test('is not compared: code that moved continues', async () => {
    let moved = 0;
    const sources: SourceLocations = {
      of: () => {
        moved += 1;
        return `src/flow.ts:${moved}`;
      },
    };
    const { world, id } = await run(async (flow) => {
      const one = await flow.step('one', () => 1);
      await flow.sleep('rest', '1h');
      return one + (await flow.step('two', () => 2));
    }, sources);
    await world.run();
    expect(world.stateOf(id).status).toBe('completed');
  });

  test('is determined for new operations, not for those answered from the journal', async () => {
    const requests: (readonly CodePosition[])[] = [];
    const sources: SourceLocations = {
      of: (calls) => {
        requests.push(calls);
        return undefined;
      },
    };
    const { world, id } = await run(async (flow) => {
      for (let turn = 0; turn < 20; turn += 1) await flow.step('turn', () => turn);
      await flow.sleep('rest', '1h');
      return flow.step('last', () => 1);
    }, sources);
    await world.run();
    expect(world.stateOf(id).status).toBe('completed');
    // The location of the sleep is determined at most once more, when the run continues after it.
    expect(requests.length).toBeGreaterThanOrEqual(22);
    expect(requests.length).toBeLessThanOrEqual(23);
    for (const [first] of requests) expect(first?.file).toContain('locations.test.ts');
  });

  test('is absent if nobody determines it', async () => {
    const { world, id } = await run((flow) => flow.step('one', () => 1), { of: () => undefined });
    await world.run();
    expect(await located(world, id)).toEqual({ 'flow[one]': undefined });
    expect(JSON.stringify(await world.store.readEvents(id, 0, 100))).not.toContain('location');
  });
});

test('reading the calls above a function does not change stack traces', () => {
  const { prepareStackTrace, stackTraceLimit } = Error;
  const prepared = () => 'as the program has it';
  const called = () => callsAbove(called);
  try {
    Error.prepareStackTrace = prepared;
    expect(called()[0]?.file).toContain('locations.test.ts');
    expect(Error.prepareStackTrace).toBe(prepared);
    expect(callsAbove(() => {})).toEqual([]);
  } finally {
    if (prepareStackTrace === undefined) Reflect.deleteProperty(Error, 'prepareStackTrace');
    else Error.prepareStackTrace = prepareStackTrace;
  }
  expect(Error.stackTraceLimit).toBe(stackTraceLimit);
});
