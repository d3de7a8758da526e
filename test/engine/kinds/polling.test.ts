/** Steps that ask until a condition holds. */
import { expect, test } from '@jest/globals';
import { Fatal, RetryAt } from '../../../packages/cairn/src/core/errors.ts';
import type { StepOptions } from '../../../packages/cairn/src/engine/define/types.ts';
import { CollectedLog } from '../../../packages/cairn/src/testing/world/collected-log.ts';
import { assertStored } from '../../support/soundness.ts';
import { World } from '../../support/world.ts';
import { workflowOf } from './one-run.ts';

const MINUTE = 60_000;

type Look = (attempt: number, now: number) => unknown;

async function polled(look: Look, options: StepOptions<object, Record<never, never>, unknown> = {}) {
  const workflow = workflowOf((step) => {
    const a = step('a', { poll: { within: '2h' }, ...options }, ({ attempt }) =>
      look(attempt, world.clock.now()),
    );
    return { a };
  });
  const world: World = new World({ workflows: [workflow] });
  const log = new CollectedLog(world.clock);
  const runId = await world.start('w');
  await world.run(undefined, { ...world.deps, log });
  const warnings = log.lines.filter(({ level }) => level === 'warn' || level === 'error');
  return { world, runId, warnings, state: assertStored(world.db, runId) };
}

test('a poll whose condition does not hold yet logs no warning and uses no attempt', async () => {
  const { world, runId, state, warnings } = await polled(
    (attempt, now) => {
      if (attempt < 20) throw new RetryAt(now + 5 * MINUTE, 'still building');
      return attempt;
    },
    { retry: { maxAttempts: 1 } },
  );
  expect(state).toMatchObject({ status: 'completed', result: { text: '{"a":20}' } });
  expect(warnings).toEqual([]);
  const events = await world.store.readEvents(runId, 0, 200);
  const polls = events.filter(({ type }) => type === 'step_retry_scheduled');
  expect(polls).toHaveLength(19);
  expect(polls.at(-1)?.data).toMatchObject({ polled: true, polls: 19, attempt: 19 });
  expect(events.find(({ type }) => type === 'step_succeeded')?.data).toMatchObject({
    attempt: 20,
    polls: 19,
  });
});

test('failures between polls use up attempts as usual, with warnings', async () => {
  const { state, warnings } = await polled(
    (attempt, now) => {
      if (attempt % 2 === 0) throw new RetryAt(now + MINUTE);
      throw new Error(`attempt ${attempt} broke`);
    },
    { retry: { maxAttempts: 3 } },
  );
  expect(state).toMatchObject({ status: 'failed', error: { message: 'attempt 5 broke' } });
  expect(warnings.filter(({ event }) => event === 'step_attempt_failed')).toHaveLength(3);
});

test('a condition that does not hold in time fails the step after a last poll at the end of the time', async () => {
  const looks: number[] = [];
  const { state } = await polled((_, now) => {
    looks.push(now);
    throw new RetryAt(now + 50 * MINUTE, 'still building');
  });
  const [first = 0] = looks;
  expect(looks.map((at) => Math.round((at - first) / MINUTE))).toEqual([0, 50, 100, 120]);
  expect(state).toMatchObject({
    status: 'failed',
    error: {
      code: 'STEP_TIMEOUT',
      message: expect.stringContaining('and 4 polls; last result: still building'),
    },
  });
});

test('Fatal ends a poll, and RetryAt in a step that does not poll is a failed attempt', async () => {
  const fatal = await polled(() => {
    throw new Fatal('the build is gone');
  });
  expect(fatal.state).toMatchObject({ status: 'failed', error: { message: 'the build is gone' } });
  const { state, warnings } = await polled(
    (_, now) => {
      throw new RetryAt(now + MINUTE);
    },
    { poll: undefined as never },
  );
  expect(state.status).toBe('failed');
  expect(warnings.filter(({ event }) => event === 'step_attempt_failed')).toHaveLength(3);
});

test('a poll without a delay runs at most once a second', async () => {
  const looks: number[] = [];
  await polled(
    (_, now) => {
      looks.push(now);
      throw new RetryAt(0);
    },
    { poll: { within: '5s' } },
  );
  const [first = 0] = looks;
  expect(looks.map((at) => at - first)).toEqual([0, 1_000, 2_000, 3_000, 4_000, 5_000]);
});

test('items of a map poll independently', async () => {
  const workflow = workflowOf((step) => ({
    a: step.map(
      'a',
      { over: () => [1, 2, 3], poll: { within: '1h' }, retry: { maxAttempts: 1 } },
      ({ item, attempt }) => {
        if (attempt < item) throw new RetryAt(world.clock.now() + MINUTE);
        return attempt;
      },
    ),
  }));
  const world: World = new World({ workflows: [workflow] });
  const runId = await world.start('w');
  await world.run();
  expect(assertStored(world.db, runId)).toMatchObject({
    status: 'completed',
    result: { text: '{"a":[1,2,3]}' },
  });
});
