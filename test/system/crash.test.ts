import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { control, type Ready } from '../../local/cloud-process.ts';
import { inspectJournal } from '../../local/demo/journal.ts';
import { ended, eventually, STORAGES, startRun, startTestCloud } from './support.ts';

const root = join(import.meta.dirname, '../..');

/** A scan that was caught in the stopped worker keeps the next one away until its time, a minute, is over. */
const HELD_SCAN_MS = 100_000;

function notesIn(file: string): { what: string; pid: number }[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => ({ what: line.split(' ')[0] ?? '', pid: Number(line.split(' ')[1]) }));
}

describe.each(STORAGES)('a worker that dies, state in %s', (storage) => {
  test('killed in the middle of a step, its run is resumed by another and completes once', async () => {
    const cloud = await startTestCloud(storage);
    try {
      const { ready, folder } = cloud;
      const notes = join(folder, 'notes');
      const { runId } = (await (await startRun(ready, 'slow', { ms: 1_000, notes })).json()) as {
        runId: string;
      };
      const { pid } = await eventually('the step to begin', () => notesIn(notes)[0]);
      process.kill(pid, 'SIGKILL');
      const run = await ended(ready, runId);
      expect(run).toMatchObject({ status: 'completed', resumeCount: 1 });
      expect(notesIn(notes).map(({ what }) => what)).toEqual(['begin', 'begin', 'end']);
      const { workers } = await control<Ready['pids']>(ready, 'GET', '/pids');
      expect(workers).not.toContain(pid);
    } finally {
      await cloud.stop();
    }
  });

  test('stopped past its lease and continued, it writes nothing more (J3)', async () => {
    const cloud = await startTestCloud(storage, 2);
    try {
      const { ready, folder } = cloud;
      const notes = join(folder, 'notes');
      // Once the scan of the start is over: caught in the stopped worker, it would keep the next one away for a minute.
      const warm = (await (await startRun(ready, 'chain-10', {})).json()) as { runId: string };
      await ended(ready, warm.runId);
      const { runId } = (await (await startRun(ready, 'slow', { ms: 1_500, notes })).json()) as {
        runId: string;
      };
      const { pid: zombie } = await eventually('the step to begin', () => notesIn(notes)[0]);
      process.kill(zombie, 'SIGSTOP');
      // Nothing but time tells the queue that the stopped one will not answer; the scan sees the stale lease.
      const before = await eventually(
        'the run to complete',
        async () => {
          // Read from the store: requests to the workers would crowd the one that still lives.
          const { events } = await inspectJournal(ready, runId);
          return events.at(-1)?.type === 'run_completed' ? events : undefined;
        },
        HELD_SCAN_MS,
      );
      process.kill(zombie, 'SIGCONT');
      await eventually('the zombie to end its step', () =>
        notesIn(notes).some(({ what, pid }) => what === 'end' && pid === zombie) ? true : undefined,
      );
      const { events, intact } = await inspectJournal(ready, runId);
      expect(events).toEqual(before);
      expect(intact).toBe(true);
      expect(await ended(ready, runId)).toMatchObject({ status: 'completed', resumeCount: 1 });
    } finally {
      await cloud.stop();
    }
  }, 150_000);
});

test('npm run demo ends well and says so in its last line', async () => {
  const demo = spawn(process.execPath, [
    '--disable-warning=ExperimentalWarning',
    join(root, 'local/demo/main.ts'),
  ]);
  let output = '';
  demo.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const [code] = await once(demo, 'close');
  expect(JSON.parse(output.trim().split('\n').at(-1) ?? '')).toMatchObject({
    ok: true,
    runs: 1,
    duplicates: 20,
    status: 'completed',
    comments: 1,
    statuses: 1,
    journalIntact: true,
    steps: 10,
    writesPerStep: 3,
    readsPerStep: 0,
  });
  expect(code).toBe(0);
});
