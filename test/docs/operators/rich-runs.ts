/** Runs with features that no scenario of the sweep uses, so that their documents have the remaining members. */
import { z } from 'zod';
import { createApi } from '../../../packages/cairn/src/api/app.ts';
import { Fatal } from '../../../packages/cairn/src/core/errors.ts';
import { defineBinding, defineCapability } from '../../../packages/cairn/src/engine/define/capability.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';
import { cancelRun } from '../../../packages/cairn/src/operations/cancel-run.ts';
import { resolveEffect } from '../../../packages/cairn/src/operations/effects/resolve-effect.ts';
import { echo, Installation } from '../../api/installation.ts';
import { intercept } from '../../support/intercept.ts';
import { Outside } from '../../support/outside.ts';
import { driven, succeed } from '../../support/successors.ts';
import { settle } from '../../support/virtual-clock.ts';
import { World } from '../../support/world.ts';
import type { RealDocuments } from './real-documents.ts';

/** Larger than the inline limit of a checkpoint. */
const LARGE = 'x'.repeat(300 * 1024);

export async function performRichRuns(documents: RealDocuments): Promise<void> {
  for (const perform of [
    identified,
    parked,
    large,
    inDoubt,
    answeredLate,
    confirmed,
    repeatedCall,
    thrown,
    keyed,
    restored,
    located,
  ]) {
    const world = await perform((made) => documents.follow(made));
    documents.read(world);
  }
  documents.readEnds(await paged());
}

/** A flow with a known source location. */
async function located(follow: Follow): Promise<World> {
  const workflow = defineWorkflow({
    type: 'located',
    planVersion: 1,
    input: z.object({}),
    run: (flow) => flow.step('ask', () => 1),
  });
  const world = new World({ workflows: [workflow], sources: { of: () => 'src/located.ts:7' } });
  follow(world);
  await world.start('located');
  await world.run();
  return world;
}

type Follow = (world: World) => void;

/** A run of a pull request, in a trace and a conversation, with a secret; a forced resume takes over its large input. */
async function identified(follow: Follow): Promise<World> {
  const workflow = defineWorkflow({
    type: 'identified',
    planVersion: 1,
    input: z.object({ text: z.string(), token: z.string() }),
    secretInput: ['token'],
    tags: ({ text }) => ({ length: text.length }),
    policy: () => ({ allowed: true, policySnapshotId: 'rules-1' }),
    steps: (step) => ({
      done: step('do', ({ log }) => {
        log('about to break');
        throw new Fatal('broken');
      }),
    }),
  });
  const world = new World({ workflows: [workflow] });
  follow(world);
  const runId = await world.start(
    'identified',
    { text: LARGE, token: 'secret' },
    {
      key: 'github:1',
      repoId: 'acme/shop',
      prId: '7',
      prUrl: 'https://github.com/acme/shop/pull/7',
      a2aCorrelationId: 'conversation-7',
      trigger: { source: 'webhook', userId: 'g.ada', webhookEventId: '1' },
      trace: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true },
    },
  );
  await world.run();
  await driven(world, 'resume', runId, { force: true, signals: 'carry' });
  return world;
}

async function parked(follow: Follow): Promise<World> {
  const world = new World({ workflows: [echo] });
  follow(world);
  const runId = await world.start('echo', { text: '' });
  const withoutIt = { ...world.deps, registry: new WorkflowRegistry([]) };
  await world.run(() => world.stateOf(runId).parked !== undefined, withoutIt);
  await world.run();
  return world;
}

async function large(follow: Follow): Promise<World> {
  const capability = defineCapability({
    id: 'page.read',
    sideEffects: 'write',
    idempotency: 'required',
    request: z.object({}),
    response: z.string(),
  });
  const binding = defineBinding(capability, { id: 'page.read.pretended', call: async () => LARGE });
  const workflow = defineWorkflow({
    type: 'large',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({
      read: step('read', { uses: [capability] }, async ({ perform }) => perform(capability, {})),
    }),
  });
  const world = new World({ workflows: [workflow], bindings: [binding] });
  follow(world);
  await world.start('large');
  await world.run();
  return world;
}

function posting(outside: Outside): World {
  const workflow = defineWorkflow({
    type: 'posting',
    planVersion: 1,
    input: z.object({}),
    steps: (step) => ({
      sent: step('send', { uses: [outside.capability] }, ({ perform }) =>
        perform(outside.capability, { text: 'hello' }),
      ),
    }),
  });
  return new World({ workflows: [workflow], bindings: [outside.binding] });
}

/** A run of a slot from before a restore, whose action is presumed and looked up. */
async function restored(follow: Follow): Promise<World> {
  const world = posting(new Outside({ withLookup: true }));
  follow(world);
  const slotAt = world.clock.now();
  await world.start('posting', {}, { trigger: { source: 'scheduled', slotAt } });
  world.clock.jump(60_000);
  const mark = { at: world.clock.now(), by: 'c.ops', isPaused: false };
  await world.config.write({ killSwitch: false, paused: new Map(), restore: mark }, undefined);
  await world.run();
  return world;
}

/** A run cancelled while in doubt, whose replay asks about the row of its source. */
async function inDoubt(follow: Follow): Promise<World> {
  const outside = new Outside();
  outside.faults.push('lose_answer');
  const world = posting(outside);
  follow(world);
  const isAsked = (id: string) => () => world.stateOf(id).status === 'awaiting_approval';
  const runId = await world.start('posting');
  await world.run(isAsked(runId));
  await cancelRun(world.deps, { runId, tenantId: 't1', actor: 'c.ann', stopKind: 'user', reason: 'late' });
  await world.run();
  const replay = await succeed(world, 'replay', runId);
  await world.run(isAsked(replay));
  return world;
}

/** A receiver that deduplicates by key loses its answer, so the call is repeated, and its row has the time of the repetition. */
async function repeatedCall(follow: Follow): Promise<World> {
  const outside = new Outside({ idempotency: 'required' });
  outside.faults.push('lose_answer');
  const world = posting(outside);
  follow(world);
  await world.start('posting');
  await world.run();
  return world;
}

/** A person resolves a call, and then the call answers. */
async function answeredLate(follow: Follow): Promise<World> {
  const outside = new Outside();
  const gate = Promise.withResolvers<void>();
  outside.onCall = () => gate.promise;
  const world = posting(outside);
  follow(world);
  const runId = await world.start('posting');
  for (const task of world.queue.due(world.clock.now())) world.queue.take(task.id);
  let isCut = false;
  const store = intercept(world.deps.store, (_, proceed) => (isCut ? new Promise(() => {}) : proceed()));
  void drive({ ...world.deps, store }, { runId });
  await settle();
  isCut = true;
  await world.run(() => world.stateOf(runId).status === 'awaiting_approval');
  const effectId = world.stateOf(runId).waits[0]?.effectId ?? '';
  const said = { runId, tenantId: 't1', effectId, outcome: 'recorded' as const, actor: 'c.ann' };
  await resolveEffect(world.deps, { ...said, result: { id: 7 } });
  gate.resolve();
  await settle();
  await world.run();
  return world;
}

/** The policy of the installation requires a confirmation before the call. */
async function confirmed(follow: Follow): Promise<World> {
  const world = posting(new Outside());
  follow(world);
  const runId = await world.start('posting');
  const callPolicy = () => ({ decision: 'ask', reason: 'it costs money' }) as const;
  await world.run(() => world.stateOf(runId).status === 'awaiting_approval', { ...world.deps, callPolicy });
  return world;
}

/** A dispatch that throws without dying, and is repeated. */
async function thrown(follow: Follow): Promise<World> {
  const world = new World({ workflows: [echo] });
  follow(world);
  const runId = await world.start('echo', { text: LARGE });
  const store = intercept(world.deps.store, async ({ method }, proceed) => {
    if (method === 'readPayload') throw new TypeError('a mistake of ours');
    return proceed();
  });
  await world.run(() => world.stateOf(runId).failures !== undefined, { ...world.deps, store });
  await world.run();
  return world;
}

/** Requests with a key that need several commits: one succeeds, one is refused, one fails. */
async function keyed(follow: Follow): Promise<World> {
  const installation = new Installation([echo]);
  const { world } = installation;
  follow(world);
  const key = await installation.key('ops', { tenantId: 't1', roles: ['operator'] });
  const runId = await world.start('echo', { text: '' });
  const cancel = (once: string, api = installation.api) =>
    api.request(`/v1/runs/${runId}/cancel`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'idempotency-key': once },
    });
  await cancel('in-time');
  await world.run();
  await cancel('too-late');
  let loads = 0;
  const store = intercept(world.store, async ({ method }, proceed) => {
    // The first load is before the record is written.
    if (method === 'load' && ++loads > 1) throw new TypeError('a mistake of ours');
    return proceed();
  });
  const { apiDeps } = installation;
  await cancel('fails', createApi({ ...apiDeps, store }));
  return world;
}

/** More failed compensations than fit in a run document. */
async function paged(): Promise<World> {
  const workflow = defineWorkflow({
    type: 'paged',
    planVersion: 1,
    input: z.object({}),
    steps(step) {
      const undone = {
        over: () => Array.from({ length: 760 }, (_, i) => i),
        compensate: () => {
          throw new Fatal('界'.repeat(400));
        },
      };
      const all = step.map('all'.padEnd(100, 'x'), undone, ({ item }) => item);
      return {
        broken: step('broken', { needs: { all } }, (): string => {
          throw new Fatal('broken');
        }),
      };
    },
  });
  const world = new World({ workflows: [workflow] });
  await world.start('paged');
  await world.run();
  return world;
}
