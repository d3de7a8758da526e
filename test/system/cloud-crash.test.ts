import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { control, startCloudProcess } from '../../packages/local/src/cloud-process.ts';
import { inspectJournal } from '../../scripts/demo/journal.ts';
import { builtFunctions } from '../../scripts/test-functions/built.ts';
import { ended, startRun } from './support.ts';

const functionsModule = builtFunctions(join(import.meta.dirname, 'fixtures/functions.ts'));
/** For the start of all clouds on a busy machine. */
const PATIENCE_MS = 480_000;
const CRASHES = [
  { after: 0, what: 'its start' },
  { after: 6, what: 'its fifth step' },
];
const MORE_CRASHES = [
  { after: 1, what: 'its claim' },
  { after: 11, what: 'its last step' },
];
const folder = mkdtempSync(join(tmpdir(), 'cairn-crash-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Each has clouds of its own, and waits for them most of the time. The engine's sweep crashes after every write; `EVERY_CRASH=1` adds two here. */
test.concurrent.each(process.env.EVERY_CRASH === '1' ? [...CRASHES, ...MORE_CRASHES] : CRASHES)(
  'the whole cloud dies once $what is durable, starts again, and the run completes once',
  async ({ after }) => {
    const options = { data: join(folder, `data-${after}`), functionsModule, workers: 1, keepsSpare: false };
    const first = await startCloudProcess(options);
    // Documents of the run: the scheduled functions write their heartbeats elsewhere.
    const ofRun = { call: 'Commit', path: 'gwi_runs/' };
    const rules = [{ ...ofRun, probability: 1, after, times: 1, fault: { kind: 'crash' } }];
    await control(first.ready, 'PUT', '/faults', { seed: 1, rules });
    // The answer to the start itself may be what the crash swallows.
    await startRun(first.ready, 'chain-10', {}, 'crash').catch(() => undefined);
    await first.ended;
    expect(first.process.signalCode).toBe('SIGKILL');

    const second = await startCloudProcess(options);
    try {
      const again = await startRun(second.ready, 'chain-10', {}, 'crash');
      // The run was there already: its record is as durable as it is.
      expect(again.status).toBe(200);
      const { runId } = (await again.json()) as { runId: string };
      await control(second.ready, 'POST', '/clock/advance', { ms: 61_000 });
      expect((await ended(second.ready, runId)).status).toBe('completed');
      const { events, intact } = await inspectJournal(second.ready, runId);
      expect(intact).toBe(true);
      const finished = events.filter(({ type }) => type === 'step_succeeded');
      expect(finished).toHaveLength(10);
    } finally {
      second.process.kill('SIGTERM');
      await second.ended;
    }
  },
  PATIENCE_MS,
);
