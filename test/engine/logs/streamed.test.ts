import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { StoredLine } from '../../../packages/cairn/src/core/logs/text.ts';
import { isOver } from '../../../packages/cairn/src/core/run/state.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { pause } from '../../../packages/cairn/src/ports/clock.ts';
import type { JournalCommit } from '../../../packages/cairn/src/ports/run-store.ts';
import { intercept } from '../../support/intercept.ts';
import { MemoryLogStore } from '../../support/memory/memory-log-store.ts';
import { mortal } from '../../support/mortal.ts';
import { World } from '../../support/world.ts';

const input = z.object({});

function worldOf(workflow: (world: () => World) => Workflow) {
  const made: { world?: World } = {};
  const world = new World({
    workflows: [
      workflow(() => {
        if (made.world) return made.world;
        throw new Error('there is no world yet');
      }),
    ],
  });
  made.world = world;
  const lines = async (runId: string): Promise<StoredLine[]> =>
    (await new MemoryLogStore(world.db).readLogs(runId, undefined, 1_000)).flatMap((one) => one.lines);
  const shown = async (runId: string) =>
    (await lines(runId)).map((line) =>
      line.kind === 'text' ? `${line.attempt}: ${line.text}` : `${line.step} ${line.kind}`,
    );
  return { world, lines, shown };
}

describe('text that a body streams', () => {
  test('is written with the output of its step in one commit, each piece with step, attempt and position', async () => {
    const commits: JournalCommit[] = [];
    const { world, lines } = worldOf(() =>
      defineWorkflow({
        type: 'talk',
        planVersion: 1,
        input,
        steps(step) {
          const said = step('say', ({ stream, log }) => {
            for (const word of ['To ', 'be ', 'or ']) stream(word);
            log('half way');
            stream('not.');
            return 'To be or not.';
          });
          const next = step('next', { needs: { said } }, () => 1);
          return { last: step('last', { needs: { next } }, () => 1) };
        },
      }),
    );
    const store = intercept(world.deps.store, async ({ method, args }, proceed) => {
      if (method === 'commit') commits.push(args[0] as JournalCommit);
      return proceed();
    });
    const runId = await world.start('talk');
    await world.run(undefined, { ...world.deps, store });
    const by = { at: expect.any(Number), step: 'say', revision: 1, attempt: 1 };
    expect(await lines(runId)).toEqual([
      { kind: 'attempt', ...by },
      { kind: 'text', ...by, offset: 0, text: 'To be or not.' },
      expect.objectContaining({ kind: 'log', message: 'half way' }),
      { kind: 'text_end', ...by },
    ]);
    const commitOf = (stepId: string) => commits.find(({ steps }) => steps.some(({ id }) => id === stepId));
    expect(commitOf('say')?.metadata?.logged?.segment?.lines.at(-1)).toMatchObject({ kind: 'text_end' });
    // Only text forces a snapshot: the commit of another step in the middle has none.
    expect(commitOf('next')).not.toHaveProperty('snapshot');
  });

  test('of a failed attempt no longer counts, also where the next one streams nothing', async () => {
    const { world, shown } = worldOf(() =>
      defineWorkflow({
        type: 'retried',
        planVersion: 1,
        input,
        steps: (step) => ({
          said: step('say', { retry: { maxAttempts: 3, initialMs: 1 } }, ({ stream, attempt }) => {
            if (attempt < 3) stream(`try ${attempt}`);
            if (attempt < 3) throw new Error('again');
          }),
        }),
      }),
    );
    const runId = await world.start('retried');
    await world.run();
    expect(await shown(runId)).toEqual(['say attempt', '1: try 1', 'say attempt', '2: try 2', 'say attempt']);
  });

  test('of a dead worker no longer counts, and written text is visible within seconds', async () => {
    let attempts = 0;
    const { world, shown } = worldOf((get) =>
      defineWorkflow({
        type: 'dies',
        planVersion: 1,
        input,
        steps: (step) => ({
          done: step('work', { timeout: '5m' }, async ({ stream }) => {
            attempts += 1;
            if (attempts > 1) return stream('whole');
            stream('seen');
            await pause(get().clock, 10_000);
            stream('lost');
            await new Promise(() => {});
          }),
        }),
      }),
    );
    const runId = await world.start('dies');
    const worker = mortal(world.deps, 50);
    const begun = world.clock.now();
    await world.run(() => world.clock.now() >= begun + 3_000, worker.deps);
    expect(await shown(runId)).toEqual(['work attempt', '1: seen']);
    worker.kill();
    world.clock.jump(world.deps.settings.leaseMs + 1);
    await world.run(() => isOver(world.stateOf(runId)));
    const rest = ['work attempt', '1: whole', 'work text_end'];
    expect(await shown(runId)).toEqual(['work attempt', '1: seen', ...rest]);
  });

  test('costs at most two writes a second, however many chunks it has', async () => {
    const SECONDS = 10;
    const writes = async (isStreaming: boolean) => {
      const { world } = worldOf((get) =>
        defineWorkflow({
          type: 'slow',
          planVersion: 1,
          input,
          steps: (step) => ({
            done: step('say', { timeout: '5m' }, async ({ stream }) => {
              for (let n = 0; n < 4 * SECONDS; n += 1) {
                for (let chunk = 0; isStreaming && chunk < 50; chunk += 1) stream('word ');
                await pause(get().clock, 250);
              }
            }),
          }),
        }),
      );
      const runId = await world.start('slow');
      await world.run(() => isOver(world.stateOf(runId)));
      return (await world.store.load(runId))?.metadata.cost?.writes ?? 0;
    };
    const more = (await writes(true)) - (await writes(false));
    expect(more).toBeGreaterThan(2);
    expect(more).toBeLessThanOrEqual(2 * SECONDS + 1);
  });

  test('is masked for secret members of the input, however it is cut into chunks', async () => {
    const { world, lines } = worldOf(() =>
      defineWorkflow({
        type: 'secret',
        planVersion: 1,
        input: z.object({ token: z.string() }),
        secretInput: ['token'],
        steps: (step) => ({
          done: step('use', ({ input: { token }, stream }) => {
            for (const letter of `with ${token}.`) stream(letter);
          }),
        }),
      }),
    );
    const runId = await world.start('secret', { token: 'tok_123456' });
    await world.run();
    expect(await lines(runId)).toContainEqual(
      expect.objectContaining({ kind: 'text', text: 'with [redacted].' }),
    );
  });

  test('is kept up to a limit, and its end is marked', async () => {
    const { world, lines } = worldOf(() =>
      defineWorkflow({
        type: 'long',
        planVersion: 1,
        input,
        steps: (step) => ({
          done: step('say', ({ stream }) => {
            for (let n = 0; n < 100; n += 1) stream('x'.repeat(10_000));
          }),
        }),
      }),
    );
    const runId = await world.start('long');
    await world.run();
    const stored = await lines(runId);
    expect(stored.at(-1)).toMatchObject({ kind: 'text_end', cut: true });
    const chars = stored.reduce((sum, line) => sum + (line.kind === 'text' ? line.text.length : 0), 0);
    expect(chars).toBeGreaterThan(200_000);
    expect(chars).toBeLessThan(256 * 1024);
  });

  test('must be text', async () => {
    const { world } = worldOf(() =>
      defineWorkflow({
        type: 'wrong',
        planVersion: 1,
        input,
        steps: (step) => ({
          done: step('say', { retry: { maxAttempts: 1 } }, ({ stream }) => stream(undefined as never)),
        }),
      }),
    );
    const runId = await world.start('wrong');
    await world.run();
    expect(world.stateOf(runId).error).toMatchObject({
      message: expect.stringMatching(/stream takes a text/),
    });
  });
});
