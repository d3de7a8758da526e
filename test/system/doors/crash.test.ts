/**
 * An instance dies, or hears nothing, at any call that a door makes to the outside: between the record and the task,
 * between the task and the answer, and everywhere else. Whoever knocks again gets the same run, and it completes once.
 */
import { describe, expect, test } from '@jest/globals';
import { PROCESSING_LOCK_MS } from '../../../packages/cairn/src/core/decisions/idempotency.ts';
import { assertStored } from '../../support/soundness.ts';
import type { Disturbance, Mode } from '../../sweep/calls.ts';
import { Doors, type Instance } from './instance.ts';
import { KNOCKS, type Knocking, type Told } from './knocks.ts';

const MODES: readonly Mode[] = ['before', 'after', 'unanswered'];

/** Another is at work on the same: come back when its lock has passed. */
const IN_FLIGHT = 202;

async function knock(doors: Doors, { knock }: Knocking, instance: Instance): Promise<Told | undefined> {
  return doors.outcomeOf(
    instance,
    instance.process.run(() => knock(doors, instance)),
  );
}

/** Knocks at new instances until one answers what the source is answered for good. */
async function knockUntilTold(doors: Doors, source: Knocking): Promise<Told> {
  const first = await knock(doors, source, doors.open());
  if (first?.status === IN_FLIGHT && first.runId === undefined) {
    doors.world.clock.jump(PROCESSING_LOCK_MS);
    return (await knock(doors, source, doors.open())) ?? {};
  }
  return first ?? {};
}

async function opened({ prepare }: Knocking): Promise<Doors> {
  const doors = await Doors.make();
  await prepare?.(doors);
  return doors;
}

function runsIn({ world }: Doors): string[] {
  return [...world.db.runs.keys()];
}

/** One run, that ran once, under the id that everybody was told. */
async function assertOneRun(doors: Doors, answers: readonly (Told | undefined)[]): Promise<void> {
  await doors.world.run();
  const [runId = '', ...others] = runsIn(doors);
  expect(others).toEqual([]);
  expect(assertStored(doors.world.db, runId).status).toBe('completed');
  expect(doors.ran).toEqual([runId]);
  const named = answers.flatMap((told) => (told?.runId === undefined ? [] : [told.runId]));
  expect(new Set(named)).toEqual(new Set(answers.some((told) => told?.status) ? [runId] : []));
}

describe.each(KNOCKS)('$name', (source) => {
  async function undisturbed(): Promise<readonly string[]> {
    const doors = await opened(source);
    const instance = doors.open();
    const first = await knock(doors, source, instance);
    expect(first?.status).toBe(source.made);
    const again = await knock(doors, source, doors.open());
    expect(again?.status).toBe(source.again);
    await assertOneRun(doors, [first, again]);
    return instance.calls.made;
  }

  /** The knock, the one after it, and all of it judged. */
  async function disturbed(disturbance: Disturbance): Promise<void> {
    const doors = await opened(source);
    const instance = doors.open([disturbance]);
    const first = await knock(doors, source, instance);
    expect(instance.process.alive).toBe(disturbance.mode === 'unanswered');
    const wasMade = runsIn(doors).length === 1;
    const again = await knockUntilTold(doors, source);
    expect(again.status).toBe(wasMade ? source.again : source.made);
    await assertOneRun(doors, [first, again]);
  }

  test('is one run, wherever the instance dies or hears nothing', async () => {
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
    ['between the record and the task, which the scan makes up for', 'before'],
    ['between the task and the answer', 'after'],
  ] as const)('is one run when the instance dies %s', async (_where, mode) => {
    const call = (await undisturbed()).indexOf('queue.enqueue');
    const doors = await opened(source);
    const died = await knock(doors, source, doors.open([{ call, mode }]));
    expect(died).toBeUndefined();
    expect(runsIn(doors)).toHaveLength(1);
    expect(doors.world.queue.pending).toHaveLength(mode === 'after' ? 1 : 0);
    // Nobody knocks again: what was recorded is carried out all the same.
    await assertOneRun(doors, []);
  });
});
