import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineBinding, defineCapability } from '../../../packages/cairn/src/engine/define/capability.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { defineSweep, type SweepOptions } from '../../../packages/cairn/src/testing/index.ts';

const mail = (idempotency: 'required' | 'not_supported') =>
  defineCapability({
    id: 'mail.send',
    sideEffects: 'external_action',
    idempotency,
    request: z.object({ to: z.string() }),
    response: z.object({ id: z.string() }),
  });

/** An order that is charged in a body and confirmed by mail, after a person has agreed. */
function order({ recognises, keyed }: { recognises: boolean; keyed: boolean }): SweepOptions {
  return {
    name: 'order',
    arrange() {
      const charges = new Map<string, string>();
      const mails = new Map<string, string>();
      const send = mail(recognises ? 'required' : 'not_supported');
      const workflow = defineWorkflow({
        type: 'order',
        planVersion: 1,
        input: z.object({ order: z.string() }),
        steps(step) {
          const charged = step('charge', ({ input, runId }) => {
            charges.set(keyed ? runId : String(charges.size), `charge ${input.order}`);
            return input.order;
          });
          const agreed = step.approval('agree', { needs: { charged }, ask: () => 'Confirm?' });
          const sent = step('confirm', { needs: { agreed }, uses: [send] }, ({ input, perform }) =>
            perform(send, { to: input.order }),
          );
          return { sent };
        },
      });
      const binding = defineBinding(send, {
        id: 'mail.fake',
        async call({ to }, { idempotencyKey }) {
          mails.set(recognises ? idempotencyKey : String(mails.size), `mail to ${to}`);
          return { id: `m-${to}` };
        },
      });
      return {
        workflows: [workflow],
        bindings: [binding],
        async perform(runtime) {
          const run = await runtime.start('order', { order: 'o-1' });
          await runtime.runUntilBlocked(run);
          await runtime.decide(run, 'approve');
          await runtime.runToEnd(run);
        },
        actions: () => [...charges.values(), ...mails.values()],
      };
    },
  };
}

test('a workflow whose receivers recognise repetitions recovers at every point', async () => {
  const seen: number[] = [];
  const report = await defineSweep(order({ recognises: true, keyed: true })).run((done) => seen.push(done));
  expect(report.failures).toEqual([]);
  expect(report.recovered).toBe(report.points);
  // Two for each of at least: claim, two appends a step, the wait, the dispatches, three bodies, the call.
  expect(report.points).toBeGreaterThan(30);
  expect(seen).toEqual(Array.from({ length: report.points }, (_, i) => i + 1));
  expect(Object.keys(report.repeatedBodies).sort()).toEqual(['charge', 'confirm']);
});

test('an action in a body without a key is reported as done twice', async () => {
  const { failures } = await defineSweep(order({ recognises: true, keyed: false })).run();
  expect(failures).toContainEqual({
    call: expect.any(Number),
    label: 'body charge',
    moment: 'after',
    differences: ['done 2 times instead of once: charge o-1'],
  });
});

test('a call with an unknown outcome that an operator has to resolve is reported', async () => {
  const { failures } = await defineSweep(order({ recognises: false, keyed: true })).run();
  const after = failures.find(({ label, moment }) => label === 'call mail.send' && moment === 'after');
  expect(after?.differences[0]).toMatch(/^the scenario did not end: run \S+ of 'order' waits for/);
});

test('a scenario that fails undisturbed is refused', async () => {
  const options = order({ recognises: true, keyed: true });
  const arrange = () => ({ ...options.arrange(), perform: () => Promise.reject(new Error('no such shop')) });
  await expect(defineSweep({ name: 'order', arrange }).run()).rejects.toThrow(
    "the sweep 'order' fails without any crash: no such shop",
  );
});

test('a scenario that leaves a run open is refused', async () => {
  const options = order({ recognises: true, keyed: true });
  const sweep = defineSweep({
    name: 'order',
    arrange: () => ({
      ...options.arrange(),
      perform: async (runtime) => {
        await runtime.runUntilBlocked(await runtime.start('order', { order: 'o-1' }));
      },
    }),
  });
  await expect(sweep.run()).rejects.toThrow("leaves a run of 'order' awaiting_approval");
});

test('a scenario that depends on the state of an earlier performance is refused', async () => {
  const arranged = order({ recognises: true, keyed: true }).arrange();
  const performances: string[] = [];
  const actions = () => {
    performances.push('performance');
    return performances;
  };
  const sweep = defineSweep({ name: 'order', arrange: () => ({ ...arranged, actions }) });
  await expect(sweep.run()).rejects.toThrow("the sweep 'order' is not the same twice");
});
