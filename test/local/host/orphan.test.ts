import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import type { ToWorker } from '../../../packages/local/src/host/workers/messages.ts';

const WORKER = join(import.meta.dirname, '../../../packages/local/src/host/workers/worker.ts');

test('a worker whose cloud was killed while it was logging exits silently', async () => {
  const worker = fork(WORKER, {
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const { stdin, stdout, stderr } = worker;
  if (!stdin || !stdout || !stderr) throw new Error('a worker without pipes');
  const complaints = text(stderr);
  const load: ToWorker = {
    kind: 'load',
    module: join(import.meta.dirname, 'fixtures/slow-to-load.ts'),
    region: 'us-central1',
    env: {},
    clockOffsetMs: 0,
  };
  worker.send(load);
  await once(stdout, 'data');
  worker.disconnect();
  stdin.end();
  const [code] = await once(worker, 'exit');
  expect(await complaints).toBe('');
  expect(code).toBe(1);
});
