import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { isOver } from '../../../packages/cairn/src/core/run/state.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { PLAIN } from '../../../packages/cli/src/render/style.ts';
import { cells } from '../../../packages/cli/src/render/width.ts';
import { logText } from '../../../packages/cli/src/views/logs.ts';
import { Stage } from '../support/stage.ts';

const asks = defineWorkflow({
  type: 'asks',
  planVersion: 1,
  input: z.object({}),
  steps(step) {
    const first = step('first', ({ log }) => {
      log('one', { n: 1 });
      log.warn('two');
    });
    const gate = step.approval('gate', { needs: { first }, ask: () => 'Go on?' });
    return { last: step('last', { needs: { gate } }, ({ log }) => log.error('three')) };
  },
});

const talks = defineWorkflow({
  type: 'talks',
  planVersion: 1,
  input: z.object({}),
  steps: (step) => ({
    said: step('say', { retry: { maxAttempts: 2, initialMs: 1 } }, ({ stream, log, attempt }) => {
      stream('The ti');
      if (attempt === 1) throw new Error('cut off');
      stream('de\u001b[2J\nturns.');
      log('done');
    }),
  }),
});

async function begun() {
  const stage = new Stage([asks]);
  const { out } = await stage.cairn(['runs', 'start', 'asks']);
  await stage.drive();
  return { stage, runId: out.trim() };
}

describe('logs', () => {
  test('prints the lines with time, step, level and fields', async () => {
    const { stage } = await begun();
    const { code, out } = await stage.cairn(['logs', 'last']);
    expect(code).toBe(0);
    expect(out.split('\n')).toEqual([
      expect.stringMatching(/^ +\+0\.\d{3}s {2}first {2}one {2}\{"n":1\}$/),
      expect.stringMatching(/^ +\+0\.\d{3}s {2}first {2}warn two$/),
      '',
    ]);
    const lines = (await stage.cairn(['logs', 'last', '--level', 'warn', '--json'])).out.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).message)).toEqual(['two']);
    expect((await stage.cairn(['logs', 'last', '--step', 'gate'])).err).toBe('No lines.\n');
    expect((await stage.cairn(['logs', 'last', '--limit', '1'])).err).toContain('--limit');
  });

  test('-f prints each line once, including new ones, and ends with the run', async () => {
    const { stage, runId } = await begun();
    const { world } = stage.installation;
    let moved: Promise<void> | undefined;
    const { code, out } = await stage.cairn(['logs', '-f', 'last'], {
      fetch: async (target: string, init: RequestInit) => {
        const answer = await stage.fetch(target, init);
        if (String(target).includes('/logs/stream')) moved ??= move();
        return answer;
      },
    });
    async function move(): Promise<void> {
      await stage.cairn(['runs', 'approve', 'last']);
      await stage.drive();
    }
    await moved;
    expect(isOver(world.stateOf(runId))).toBe(true);
    expect(code).toBe(0);
    expect(out.split('\n').map((line) => line.slice(10).trim())).toEqual([
      'first  one  {"n":1}',
      'first  warn two',
      'last  error three',
      '',
    ]);
  });

  test('-f without lines reports that it waits, and at the end of the run that there were none', async () => {
    const { stage } = await begun();
    let moved: Promise<void> | undefined;
    const { code, out, err } = await stage.cairn(['logs', '-f', 'last', '--step', 'gate'], {
      fetch: async (target: string, init: RequestInit) => {
        const answer = await stage.fetch(target, init);
        if (String(target).includes('/logs/stream')) moved ??= move();
        return answer;
      },
    });
    async function move(): Promise<void> {
      await stage.cairn(['runs', 'approve', 'last']);
      await stage.drive();
    }
    await moved;
    expect([code, out]).toEqual([0, '']);
    expect(err).toMatch(
      /^No lines yet; waiting for those of run_\w+ until it ends\.\nNo lines; the run is completed\.\n$/,
    );
    const json = await stage.cairn(['logs', '-f', 'last', '--step', 'gate', '--json']);
    expect(json).toEqual({ code: 0, out: '', err: '' });
  });

  test('-f prints streamed text as it comes, and marks a new attempt', async () => {
    const stage = new Stage([talks]);
    await stage.cairn(['runs', 'start', 'talks']);
    await stage.drive();
    const { out } = await stage.cairn(['logs', '-f', 'last']);
    expect(out.split('\n').map((line) => line.slice(10).trim())).toEqual([
      'say  The ti',
      'say #2  the text starts again',
      'say #2  The tide\ufffd[2J',
      '',
      'say #2  done',
      '',
    ]);
    expect(out).toContain('\nturns.\n');
    const json = (await stage.cairn(['logs', '-f', 'last', '--json'])).out.trim().split('\n');
    expect(json.map((line) => JSON.parse(line).kind)).toEqual([
      'attempt',
      'text',
      'attempt',
      'text',
      'log',
      'text_end',
    ]);
  });
});

describe('a line', () => {
  const began = '2026-01-01T00:00:00.000Z';
  const line = {
    kind: 'log',
    at: '2026-01-01T00:00:01.500Z',
    level: 'error',
    step: 'charge[order-1]',
    revision: 1,
    attempt: 2,
    message: 'no funds\n    at charge (charge.ts:1)',
    fields: { body: 'y'.repeat(300) },
  } as const;

  test('fits the terminal, with its stack below', () => {
    const rows = logText(line, began, { style: PLAIN, columns: 80 }).split('\n');
    expect(rows[0]).toMatch(/^ +\+1\.500s {2}charge\[order-1\] #2 {2}error no funds {2}\{"body":"y+…$/);
    expect(rows[1]).toBe('  at charge (charge.ts:1)');
    for (const row of rows) expect(cells(row)).toBeLessThanOrEqual(80);
  });

  test('is complete in a pipe, and contains no control sequences on a terminal', () => {
    const text = logText({ ...line, message: '\u001b[2Jhidden' }, began, {
      style: PLAIN,
      columns: undefined,
    });
    expect(text).toContain('y'.repeat(300));
    expect(text).not.toContain('\u001b');
  });
});
