import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { deliverEvent } from '../../../packages/cairn/src/operations/events/deliver-event.ts';
import { intercept } from '../../support/intercept.ts';
import { mortal } from '../../support/mortal.ts';
import { assertStored } from '../../support/soundness.ts';
import { settle } from '../../support/virtual-clock.ts';
import { World } from '../../support/world.ts';

/** Checks of a schema may change within a version: only its shape belongs to the plan. */
test('a run that refuses an event after its worker died with it receives the next one, and others receive the refused one', async () => {
  let least = 0;
  const waiting = (type: string, atLeast: () => number) =>
    defineWorkflow({
      type,
      planVersion: 1,
      input: z.object({}),
      steps: (step) => ({
        paid: step.event('paid', {
          event: 'paid',
          key: () => 'k',
          output: z.number().refine((cents) => cents >= atLeast()),
        }),
      }),
    });
  const world: World = new World({
    workflows: [waiting('strict', () => least), waiting('lenient', () => 0)],
  });
  const send = (eventId: string, data: number) =>
    deliverEvent(world.deps, { tenantId: 't1', event: 'paid', key: 'k', data, eventId });
  const inHand = () =>
    [...world.db.mailboxes.values()].some(({ mailbox }) =>
      mailbox.buffered.some(({ takenBy }) => takenBy !== undefined),
    );

  expect(await send('e1', 3)).toMatchObject({ kept: true });
  const strict = await world.start('strict');
  const task = world.queue.take();
  const worker = mortal(
    {
      ...world.deps,
      mailboxes: intercept(world.deps.mailboxes, async (_, proceed) => {
        const answer = await proceed();
        if (inHand()) worker.kill();
        return answer;
      }),
    },
    7,
  );
  void drive(worker.deps, { runId: strict });
  await settle();
  expect(inHand()).toBe(true);

  least = 5;
  if (task) world.queue.repeat(task, { at: world.clock.now() + 100, answered: false });
  await world.run(() => world.stateOf(strict).status === 'waiting_external');
  expect(await send('e2', 9)).toMatchObject({ delivered: [strict] });
  const lenient = await world.start('lenient');
  await world.run();
  expect(assertStored(world.db, strict)).toMatchObject({
    status: 'completed',
    result: { text: '{"paid":9}' },
  });
  expect(assertStored(world.db, lenient)).toMatchObject({
    status: 'completed',
    result: { text: '{"paid":3}' },
  });
});
