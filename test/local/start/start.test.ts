import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { isAlive } from '../../support/processes.ts';
import { freshFolder, type StartedProcess, startProcess } from './start-fixture.ts';

const processes: StartedProcess[] = [];
function start(args: readonly string[], env?: Record<string, string>): StartedProcess {
  const process = startProcess(args, env);
  processes.push(process);
  return process;
}
afterEach(async () => {
  for (const { child } of processes) child.kill('SIGKILL');
  await Promise.all(processes.map(({ ended }) => ended));
  processes.length = 0;
});

describe('--json', () => {
  test('prints exactly one line when ready; SIGTERM ends all processes with exit code 0', async () => {
    const started = start(['--json', '--data', 'memory', '--workers', '2', '--project', 'demo-other']);
    const line = await started.ready;
    expect(line).toEqual({
      ready: true,
      gateway: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      firestore: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      tasks: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      pubsub: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      control: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      github: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      slack: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      projectId: 'demo-other',
      apiKey: expect.stringMatching(/^cairn_dev_[\w-]{32}$/),
      secrets: { github: expect.stringMatching(/^[\w-]{32}$/) },
      pids: {
        cloud: started.child.pid,
        workers: expect.any(Array),
        roles: expect.objectContaining({
          requests: [expect.any(Number)],
          tasks: [expect.any(Number), expect.any(Number)],
        }),
      },
    });
    expect((await fetch(line.gateway)).status).toBe(200);
    started.child.kill('SIGTERM');
    expect(await started.ended).toEqual({ code: 0, signal: null });
    expect(started.stdout().trim().split('\n')).toHaveLength(1);
    expect(line.pids.workers.some(isAlive)).toBe(false);
  });

  test('several instances run side by side', async () => {
    const both = [start(['--json', '--data', freshFolder()]), start(['--json', '--data', freshFolder()])];
    const [one, other] = await Promise.all(both.map(({ ready }) => ready));
    expect(one?.gateway).not.toBe(other?.gateway);
    expect(one?.apiKey).not.toBe(other?.apiKey);
    for (const line of [one, other]) expect((await fetch(String(line?.gateway))).status).toBe(200);
  });
});

describe('a failed start prints the reason', () => {
  test('an unknown flag exits with 2 and the usage', async () => {
    const started = start(['--jsn']);
    expect(await started.ended).toMatchObject({ code: 2 });
    expect(started.stderr()).toMatch(/Unknown option '--jsn'.*--data DIR/s);
  });

  test('a used port exits with 1 and is named', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    const port = String((holder.address() as AddressInfo).port);
    const started = start(['--json', '--data', 'memory', '--port', port]);
    expect(await started.ended).toMatchObject({ code: 1 });
    expect(started.stderr()).toContain(`port ${port} is in use`);
    expect(started.stdout()).toBe('');
    holder.close();
  });

  test('data in use by another cloud exits with 1 and names its process', async () => {
    const data = freshFolder();
    const first = start(['--json', '--data', data]);
    const { pids } = await first.ready;
    const second = start(['--json', '--data', data]);
    expect(await second.ended).toMatchObject({ code: 1 });
    expect(second.stderr()).toContain(`used by another local cloud (pid ${pids.cloud})`);
  });
});
