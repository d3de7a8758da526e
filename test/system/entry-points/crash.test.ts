/**
 * Crashes an instance, or withholds an answer from it, at each call that an entry point makes while it starts a run. The repeated
 * request returns the same run, which completes once.
 */
import { describe, expect, test } from '@jest/globals';
import { PROCESSING_LOCK_MS } from '../../../packages/cairn/src/core/decisions/idempotency.ts';
import { assertStored } from '../../support/soundness.ts';
import type { Disturbance, Mode } from '../../sweep/calls.ts';
import { type Instance, Instances } from './instances.ts';
import { ENTRY_POINTS, type EntryPoint, type Reply } from './requests.ts';

const MODES: readonly Mode[] = ['before', 'after', 'unanswered'];

/** Status while another instance works on the same request, until its lock expires. */
const IN_FLIGHT = 202;

async function send(
  instances: Instances,
  { send }: EntryPoint,
  instance: Instance,
): Promise<Reply | undefined> {
  return instances.outcomeOf(
    instance,
    instance.process.run(() => send(instances, instance)),
  );
}

/** Sends the request to new instances until one gives the final answer. */
async function sendUntilAnswered(instances: Instances, source: EntryPoint): Promise<Reply> {
  const first = await send(instances, source, instances.open());
  if (first?.status === IN_FLIGHT && first.runId === undefined) {
    instances.world.clock.jump(PROCESSING_LOCK_MS);
    return (await send(instances, source, instances.open())) ?? {};
  }
  return first ?? {};
}

async function opened({ prepare }: EntryPoint): Promise<Instances> {
  const instances = await Instances.make();
  await prepare?.(instances);
  return instances;
}

function runsIn({ world }: Instances): string[] {
  return [...world.db.runs.keys()];
}

/** One run exists, ran once, and has the id of every answer. */
async function assertOneRun(instances: Instances, answers: readonly (Reply | undefined)[]): Promise<void> {
  await instances.world.run();
  const [runId = '', ...others] = runsIn(instances);
  expect(others).toEqual([]);
  expect(assertStored(instances.world.db, runId).status).toBe('completed');
  expect(instances.ran).toEqual([runId]);
  const named = answers.flatMap((told) => (told?.runId === undefined ? [] : [told.runId]));
  expect(new Set(named)).toEqual(new Set(answers.some((told) => told?.status) ? [runId] : []));
}

describe.each(ENTRY_POINTS)('$name', (source) => {
  async function undisturbed(): Promise<readonly string[]> {
    const instances = await opened(source);
    const instance = instances.open();
    const first = await send(instances, source, instance);
    expect(first?.status).toBe(source.made);
    const again = await send(instances, source, instances.open());
    expect(again?.status).toBe(source.again);
    await assertOneRun(instances, [first, again]);
    return instance.calls.made;
  }

  /** Sends the request with a disturbance, and again without one. */
  async function disturbed(disturbance: Disturbance): Promise<void> {
    const instances = await opened(source);
    const instance = instances.open([disturbance]);
    const first = await send(instances, source, instance);
    expect(instance.process.alive).toBe(disturbance.mode === 'unanswered');
    const wasMade = runsIn(instances).length === 1;
    const again = await sendUntilAnswered(instances, source);
    expect(again.status).toBe(wasMade ? source.again : source.made);
    await assertOneRun(instances, [first, again]);
  }

  test('makes one run if the instance dies in any call or gets no answer to it', async () => {
    const calls = await undisturbed();
    expect(calls.filter((label) => label === 'store.start')).toHaveLength(1);
    expect(calls.at(calls.indexOf('store.start') + 1)).toBe('queue.enqueue');
    for (const call of calls.keys()) {
      for (const mode of MODES) {
        try {
          await disturbed({ call, mode });
        } catch (error) {
          throw new Error(`${mode} call ${call} (${calls[call]})`, { cause: error });
        }
      }
    }
  });

  test.each([
    ['after the record and before the task, so that the scan finds the run', 'before'],
    ['after the task and before the answer', 'after'],
  ] as const)('makes one run if the instance dies %s', async (_where, mode) => {
    const call = (await undisturbed()).indexOf('queue.enqueue');
    const instances = await opened(source);
    const died = await send(instances, source, instances.open([{ call, mode }]));
    expect(died).toBeUndefined();
    expect(runsIn(instances)).toHaveLength(1);
    expect(instances.world.queue.pending).toHaveLength(mode === 'after' ? 1 : 0);
    // The recorded run is executed although the request is not repeated.
    await assertOneRun(instances, []);
  });
});
