import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { LogLine } from '../../../packages/cairn/src/core/logs/line.ts';
import { isLogLine } from '../../../packages/cairn/src/core/logs/text.ts';
import { isOver } from '../../../packages/cairn/src/core/run/state.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { signalRun } from '../../../packages/cairn/src/operations/events/signal-run.ts';
import { pause } from '../../../packages/cairn/src/ports/clock.ts';
import { MemoryLogStore } from '../../support/memory/memory-log-store.ts';
import { mortal } from '../../support/mortal.ts';
import { succeed } from '../../support/successors.ts';
import { settle } from '../../support/virtual-clock.ts';
import { World } from '../../support/world.ts';

const input = z.object({});

function worldOf(...workflows: Workflow[]) {
  const world = new World({ workflows });
  const lines = async (runId: string): Promise<LogLine[]> =>
    (await new MemoryLogStore(world.db).readLogs(runId, undefined, 1_000)).flatMap((segment) =>
      segment.lines.filter(isLogLine),
    );
  const said = async (runId: string) =>
    (await lines(runId)).map(({ step, message }) => `${step}: ${message}`);
  return { world, lines, said };
}

describe('lines that bodies log', () => {
  test('are kept with step, attempt and level once the run has ended, except debug lines', async () => {
    const { world, lines } = worldOf(
      defineWorkflow({
        type: 'one',
        planVersion: 1,
        input,
        steps: (step) => ({
          all: step.map('each', { over: () => ['x'] }, ({ log, item }) => log('an item', { item })),
          done: step('fails', { retry: { maxAttempts: 2, initialMs: 1 } }, ({ attempt, log }) => {
            log.debug('not kept');
            log.warn('trying');
            if (attempt === 1) throw new Error('once');
            log.error('tried');
          }),
        }),
      }),
    );
    const runId = await world.start('one');
    await world.run();
    const kept = await lines(runId);
    expect(kept).toHaveLength(4);
    expect(kept).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ step: 'each[0]', level: 'info', fields: { item: 'x' } }),
        expect.objectContaining({ step: 'fails', level: 'warn', attempt: 1 }),
        expect.objectContaining({ step: 'fails', level: 'warn', attempt: 2 }),
        expect.objectContaining({ step: 'fails', level: 'error', attempt: 2, message: 'tried' }),
      ]),
    );
    expect((await world.store.load(runId))?.metadata.logs).toMatchObject({ lines: 4, dropped: 0 });
  });

  test('of a running body are readable within three seconds', async () => {
    let { clock } = new World({ workflows: [] });
    const { world, said } = worldOf(
      defineWorkflow({
        type: 'slow',
        planVersion: 1,
        input,
        steps: (step) => ({
          done: step('wait', { timeout: '5m' }, async ({ log }) => {
            await pause(clock, 10_000);
            log('half way');
            await pause(clock, 50_000);
          }),
        }),
      }),
    );
    clock = world.clock;
    const runId = await world.start('slow');
    const begun = clock.now();
    await world.run(() => clock.now() >= begun + 13_100);
    expect(isOver(world.stateOf(runId))).toBe(false);
    expect(await said(runId)).toEqual(['wait: half way']);
    await world.run();
  });

  test('that a dead worker had not written are lost, and written ones stay', async () => {
    let { clock } = new World({ workflows: [] });
    let attempts = 0;
    let isLogged = false;
    const { world, said } = worldOf(
      defineWorkflow({
        type: 'dies',
        planVersion: 1,
        input,
        steps: (step) => ({
          done: step('work', { timeout: '5m' }, async ({ log }) => {
            attempts += 1;
            if (attempts > 1) return log('done');
            log('written');
            await pause(clock, 10_000);
            log('lost');
            isLogged = true;
            await new Promise(() => {});
          }),
        }),
      }),
    );
    clock = world.clock;
    const runId = await world.start('dies');
    const worker = mortal(world.deps, 50);
    await world.run(() => isLogged, worker.deps);
    worker.kill();
    clock.jump(world.deps.settings.leaseMs + 1);
    await world.run(() => isOver(world.stateOf(runId)));
    expect(await said(runId)).toEqual(['work: written', 'work: done']);
  });

  test('of compensations are marked', async () => {
    const { world, lines } = worldOf(
      defineWorkflow({
        type: 'undone',
        planVersion: 1,
        input,
        steps: (step) => {
          const first = step('reserve', { compensate: ({ log }) => log('released') }, () => 1);
          return {
            done: step('charge', { needs: { first }, retry: { maxAttempts: 1 } }, () => {
              throw new Error('no');
            }),
          };
        },
      }),
    );
    const runId = await world.start('undone');
    await world.run();
    expect(await lines(runId)).toMatchObject([{ step: 'reserve', undoes: true, message: 'released' }]);
  });

  test('of the code of a flow are kept once, though it runs again after each wait', async () => {
    const { world, said } = worldOf(
      defineWorkflow({
        type: 'flow',
        planVersion: 1,
        input,
        steps: (step) => ({
          done: step.flow('talk', {}, async (flow) => {
            flow.log('begins');
            await flow.step('ask', ({ log }) => log('asking'));
            flow.log('asked');
            await flow.event('answer', { key: flow.runId });
            flow.log('answered');
          }),
        }),
      }),
    );
    const runId = await world.start('flow');
    await world.run(() => world.stateOf(runId).status === 'waiting_external');
    await settle();
    const lines = ['talk: begins', 'talk[ask]: asking', 'talk: asked'];
    expect(await said(runId)).toEqual(lines);
    await signalRun(world.deps, { runId, tenantId: 't1', name: 'answer', data: {}, signalId: 's1' });
    await world.run();
    expect(await said(runId)).toEqual([...lines, 'talk: answered']);
  });

  test('are masked for secret members of the input', async () => {
    const { world, lines } = worldOf(
      defineWorkflow({
        type: 'secret',
        planVersion: 1,
        input: z.object({ token: z.string() }),
        secretInput: ['token'],
        steps: (step) => ({
          done: step('use', ({ input: given, log }) => log(`with ${given.token}`, given)),
        }),
      }),
    );
    const runId = await world.start('secret', { token: 'tok_123456' });
    await world.run();
    expect(JSON.stringify(await lines(runId))).not.toContain('tok_123456');
    expect(await lines(runId)).toMatchObject([
      { message: 'with [redacted]', fields: { token: '[redacted]' } },
    ]);
  });

  test('are not copied into the resume of a failed run', async () => {
    let isBroken = true;
    const { world, said } = worldOf(
      defineWorkflow({
        type: 'fails',
        planVersion: 1,
        input,
        steps(step) {
          const first = step('first', ({ log }) => log('said'));
          return {
            done: step('second', { needs: { first }, retry: { maxAttempts: 1 } }, ({ log }) => {
              log('trying');
              if (isBroken) throw new Error('broken');
            }),
          };
        },
      }),
    );
    const runId = await world.start('fails');
    await world.run();
    isBroken = false;
    const resumed = await succeed(world, 'resume', runId);
    await world.run();
    expect(await said(runId)).toEqual(['first: said', 'second: trying']);
    expect(await said(resumed)).toEqual(['second: trying']);
  });
});

test('a run whose bodies log nothing stores nothing for logs', async () => {
  const { world, lines } = worldOf(
    defineWorkflow({ type: 'mute', planVersion: 1, input, steps: (step) => ({ done: step('do', () => 1) }) }),
  );
  const runId = await world.start('mute');
  await world.run();
  expect(await lines(runId)).toEqual([]);
  expect((await world.store.load(runId))?.metadata).not.toHaveProperty('logs');
});
