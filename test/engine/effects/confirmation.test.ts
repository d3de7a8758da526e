import { expect, test } from '@jest/globals';
import { defineCapability } from '../../../packages/cairn/src/engine/define/capability.ts';
import { resolveEffect } from '../../../packages/cairn/src/operations/effects/resolve-effect.ts';
import { startSuccessor } from '../../../packages/cairn/src/operations/successors/start-successor.ts';
import type { World } from '../../support/world.ts';
import { hello, installation, rowsOf } from './stage.ts';

const PERSON = 'c.ann';
const confirmed = () => installation(hello, { requiresConfirmation: true });

/** Question that the run asks a person. */
function questionOf(world: World, runId: string) {
  const [wait] = world.stateOf(runId).waits;
  if (wait?.effectId === undefined) throw new Error('the run asks nothing');
  return wait;
}

async function answer(
  world: World,
  runId: string,
  said: { readonly outcome: 'recorded' | 're-execute' | 'failed'; readonly result?: unknown },
): Promise<void> {
  const { effectId = '' } = questionOf(world, runId);
  const { tenantId } = world.stateOf(runId);
  await resolveEffect(world.deps, { runId, tenantId, effectId, actor: PERSON, ...said });
  await world.run();
}

async function successor(world: World, runId: string, mode: 'resume' | 'replay'): Promise<string> {
  const { tenantId } = world.stateOf(runId);
  const deps = { ...world.deps, records: world.records };
  const request = { runId, tenantId, mode, actor: PERSON, key: undefined, requestHash: '', force: false };
  const outcome = await startSuccessor(deps, request);
  if (outcome.kind === 'in_flight') throw new Error('in flight');
  await world.run();
  return outcome.runId;
}

async function asking() {
  const { outside, world } = confirmed();
  const id = await world.start('post');
  await world.run();
  return { outside, world, id };
}

test('a call that requires a confirmation is not made before a person was asked', async () => {
  const { outside, world, id } = await asking();
  expect(world.stateOf(id).status).toBe('awaiting_approval');
  expect(outside.calls).toBe(0);
  expect(rowsOf(world)).toMatchObject([
    { status: 'blocked', blockedBy: 'confirmation', n: 1, requestText: '{"text":"hello"}' },
  ]);
  expect(questionOf(world, id)).toMatchObject({ kind: 'approval', purpose: 'effect' });
  expect(questionOf(world, id).detailText).toContain('requires confirmation');
});

test('a confirmed call is made once, and asked about once', async () => {
  const { outside, world, id } = await asking();
  await answer(world, id, { outcome: 're-execute' });
  expect(world.stateOf(id)).toMatchObject({ status: 'completed' });
  expect(outside).toMatchObject({ calls: 1, applied: [{ text: 'hello' }] });
  expect(rowsOf(world)).toMatchObject([
    { status: 'blocked', resolution: { outcome: 're-execute', by: PERSON } },
    { status: 'recorded', n: 2 },
  ]);
});

test('a confirmed call that failed without effect is repeated without another question', async () => {
  const { outside, world, id } = await asking();
  outside.faults.push('refuse');
  await answer(world, id, { outcome: 're-execute' });
  expect(world.stateOf(id).status).toBe('completed');
  expect(outside).toMatchObject({ calls: 2, applied: [{ text: 'hello' }] });
});

test('a call that a person made by hand is not repeated: the step continues with the recorded answer', async () => {
  const { outside, world, id } = await asking();
  await answer(world, id, { outcome: 'recorded', result: { id: 7 } });
  expect(world.stateOf(id)).toMatchObject({ status: 'completed', result: { text: '{"sent":{"id":7}}' } });
  expect(outside.calls).toBe(0);
});

test('a rejected call fails the step, and its resume asks again', async () => {
  const { outside, world, id } = await asking();
  await answer(world, id, { outcome: 'failed' });
  expect(world.stateOf(id).status).toBe('failed');
  const next = await successor(world, id, 'resume');
  expect(world.stateOf(next).status).toBe('awaiting_approval');
  expect(outside.calls).toBe(0);
  await answer(world, next, { outcome: 're-execute' });
  expect(world.stateOf(next).status).toBe('completed');
  expect(outside.applied).toHaveLength(1);
});

test('a replay uses the recorded answer, without a question', async () => {
  const { outside, world, id } = await asking();
  await answer(world, id, { outcome: 're-execute' });
  const next = await successor(world, id, 'replay');
  expect(world.stateOf(next).status).toBe('completed');
  expect(outside.applied).toHaveLength(1);
});

test('a capability without ledger rows cannot require confirmation', () => {
  const { capability } = confirmed().outside;
  const { request, response } = capability;
  const read = { id: 'post.read', sideEffects: 'read' as const, idempotency: 'optional' as const };
  expect(() => defineCapability({ ...read, request, response, requiresConfirmation: true })).toThrow(
    expect.objectContaining({ code: 'INVALID_INPUT', field: 'requiresConfirmation' }),
  );
});
