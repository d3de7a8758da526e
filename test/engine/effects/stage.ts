/** An installation with one step that sends, and a receiver that counts; shared by the tests of the ledger. */
import { z } from 'zod';
import type { EffectRecord } from '../../../packages/cairn/src/core/effects/effect.ts';
import type { Capability } from '../../../packages/cairn/src/engine/define/capability.ts';
import type { StepContext } from '../../../packages/cairn/src/engine/define/types.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { intercept } from '../../support/intercept.ts';
import { Outside, type OutsideOptions, type Sent } from '../../support/outside.ts';
import { settle } from '../../support/virtual-clock.ts';
import { World } from '../../support/world.ts';

type Perform = StepContext<unknown>['perform'];
type Send = (
  perform: Perform,
  capability: Capability<Sent, { readonly id: number }>,
  attempt: number,
) => unknown;

export const RETRY = { maxAttempts: 3, initialMs: 10 };

export function installation(send: Send, options: OutsideOptions = {}) {
  const outside = new Outside(options);
  const { capability } = outside;
  const workflow = defineWorkflow({
    type: 'post',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({
      sent: step('send', { uses: [capability], retry: RETRY }, ({ perform, attempt }) =>
        send(perform, capability, attempt),
      ),
    }),
  });
  return { outside, world: new World({ workflows: [workflow], bindings: [outside.binding] }) };
}

export const hello: Send = (perform, capability) => perform(capability, { text: 'hello' });

export function rowsOf({ db }: World): EffectRecord[] {
  return [...db.effects.values()].map(({ record }) => record);
}

export function eventsOf({ db }: World, id: string) {
  return db.runs.get(id)?.events ?? [];
}

/** The drive dies at the moment of the call, before or after it took effect. */
export async function crashAtCall(world: World, outside: Outside, when: 'before' | 'after'): Promise<string> {
  const id = await world.start('post');
  let dead = false;
  outside.onCall = () => {
    dead = true;
    return when === 'before' ? new Promise(() => {}) : undefined;
  };
  const stop = () => (dead ? new Promise<never>(() => {}) : undefined);
  const mortal = {
    ...world.deps,
    store: intercept(world.deps.store, (_, proceed) => stop() ?? proceed()),
    effects: intercept(world.deps.effects, (_, proceed) => stop() ?? proceed()),
  };
  for (const task of world.queue.due(world.clock.now())) world.queue.take(task.id);
  void drive(mortal, { runId: id });
  await settle();
  outside.onCall = () => {};
  return id;
}
