import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { CairnError } from '../../../packages/cairn/src/core/errors.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { closingDraft } from '../../../packages/cairn/src/engine/drive/closing.ts';
import { NO_OUTPUT } from '../../../packages/cairn/src/engine/recording/output.ts';
import { deliverEvent } from '../../../packages/cairn/src/operations/events/deliver-event.ts';
import { signalRun } from '../../../packages/cairn/src/operations/events/signal-run.ts';
import { intercept } from '../../support/intercept.ts';
import { assertStored } from '../../support/soundness.ts';
import { settle } from '../../support/virtual-clock.ts';
import { World } from '../../support/world.ts';

const inner = defineWorkflow({
  type: 'inner',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({ one: step('one', () => 1) }),
});

/** One wait of each kind that a drive announces, and a step after both and after `work`. */
const waitingFor = (work: Promise<void>) =>
  defineWorkflow({
    type: 'waiting',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const news = step.event('news', { event: 'news', key: () => 'k', timeout: '1s', onFailure: 'skip' });
      const child = step.child('child', {
        workflow: inner,
        input: () => ({}),
        timeout: '1s',
        onFailure: 'skip',
      });
      const worked = step('work', () => work);
      const needs = { news, child, worked };
      return { last: step('last', { needs, ifSkipped: 'run' }, ({ news }) => `heard ${news}`) };
    },
  });

/** By then the drive has checked for waits that others ended, and its own time is up. */
const NOTICED_MS = 3_000;

/** A run whose wait ends for another reason while its drive awaits the result of the announcement. */
async function told(what: 'the mailbox' | 'the child', meanwhile: (world: World, runId: string) => unknown) {
  const work = Promise.withResolvers<void>();
  const world = new World({ workflows: [waitingFor(work.promise), inner] });
  const runId = await world.start('waiting');
  const word = Promise.withResolvers<void>();
  let isSecond = false;
  const wait = () => {
    isSecond = true;
    return word.promise;
  };
  const event = { tenantId: 't1', event: 'news', key: 'k', data: 'early', eventId: 'e1' };
  if (what === 'the mailbox') await deliverEvent(world.deps, event);
  const deps = {
    ...world.deps,
    ...(what === 'the mailbox'
      ? {
          mailboxes: intercept(world.deps.mailboxes, ({ method }, proceed) =>
            method === 'write' ? wait().then(proceed) : proceed(),
          ),
        }
      : {
          otherRuns: {
            ...world.deps.otherRuns,
            startChild: () => wait().then(() => Promise.reject(new CairnError('INVALID_INPUT', 'no'))),
          },
        }),
  };
  await world.run(() => isSecond, deps);
  await meanwhile(world, runId);
  const begun = world.clock.now();
  await world.run(() => world.clock.now() - begun > NOTICED_MS, deps);
  word.resolve();
  await settle();
  work.resolve();
  await world.run();
  return assertStored(world.db, runId, Number.POSITIVE_INFINITY);
}

describe('a wait that ends twice at the same moment is continued once', () => {
  test('when it times out while its drive takes an event from the mailbox', async () => {
    const { status, result } = await told('the mailbox', () => {});
    expect({ status, result }).toMatchObject({
      status: 'completed',
      result: { text: '{"last":"heard undefined"}' },
    });
  });

  test('when a signal answers it while its drive takes an event from the mailbox', async () => {
    const { status, result } = await told('the mailbox', (world, runId) =>
      signalRun(world.deps, { runId, tenantId: 't1', name: 'news', data: 'a signal', signalId: 's1' }),
    );
    expect({ status, result }).toMatchObject({
      status: 'completed',
      result: { text: '{"last":"heard a signal"}' },
    });
  });

  test('when it times out while its drive learns that it can start no child', async () => {
    const { status, result } = await told('the child', () => {});
    expect({ status, result }).toMatchObject({
      status: 'completed',
      result: { text: '{"last":"heard undefined"}' },
    });
  });
});

test('a drive with a wrong count does not complete its run', async () => {
  const workflow = waitingFor(Promise.resolve());
  const world = new World({ workflows: [workflow, inner] });
  const state = world.stateOf(await world.start('waiting'));
  const facts = { workflow, result: NO_OUTPUT, inFlight: [] };
  expect(() => closingDraft({ kind: 'completed' }, state, facts)).toThrow(/step 'news' has not ended/);
});
