import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import type { FromWorker, ToWorker } from '../../../packages/local/src/host/workers/messages.ts';

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

test('a worker exits with its cloud, whatever a body did to `process`', async () => {
  const worker = fork(WORKER, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const load: ToWorker = {
    kind: 'load',
    module: join(import.meta.dirname, 'fixtures/sabotage.ts'),
    region: 'us-central1',
    env: {},
    clockOffsetMs: 0,
  };
  const serving = new Promise<number>((resolve) => {
    worker.on('message', (message: FromWorker) => {
      if (message.kind === 'loaded') worker.send({ kind: 'serve', env: {} } satisfies ToWorker);
      if (message.kind === 'ready') resolve(message.port);
    });
  });
  worker.send(load);
  await fetch(`http://127.0.0.1:${await serving}/sabotage`);
  const ended = once(worker, 'exit');
  worker.disconnect();
  const killer = setTimeout(() => worker.kill('SIGKILL'), 120_000);
  expect(await ended).toEqual([1, null]);
  clearTimeout(killer);
});
