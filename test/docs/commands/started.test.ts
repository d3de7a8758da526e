/** Commands of the documents that start a program or a server, run by npm as a person would. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { OUTSIDE_NPM } from '../../support/outside-npm.ts';

const ROOT = join(import.meta.dirname, '../../..');

// Vite colours the address if it detects CI.
const env = { ...OUTSIDE_NPM, NO_COLOR: '1' };
const stops: (() => Promise<unknown>)[] = [];
afterAll(() => Promise.all(stops.map((stop) => stop())));

/** Runs a command of the documents, with further words, until it prints the wanted text. */
async function printed(command: string, words: readonly string[], wanted: RegExp): Promise<string> {
  const [program = '', ...shown] = command.split(' ');
  const child = spawn(program, [...shown, ...words], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  stops.push(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  let text = '';
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      text += chunk;
      const [found] = wanted.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then(([code]) => reject(new Error(`${command} ended with ${code}: ${text}`)));
  });
}

describe('npm start -- --functions examples/research/functions.ts', () => {
  test('serves the agent, and the stand-ins that the documents ask with curl', async () => {
    const line = await printed(
      'npm start -- --functions examples/research/functions.ts',
      ['--json', '--no-spare', '--data', 'memory', '--port', '0'],
      /^\{"ready".*\}$/m,
    );
    const ready = JSON.parse(line) as Record<'gateway' | 'apiKey' | 'github' | 'slack', string>;
    const headers = { authorization: `Bearer ${ready.apiKey}` };
    const workflows = await (await fetch(`${ready.gateway}/v1/workflows`, { headers })).text();
    expect(workflows).toContain('"research"');
    const curl = (command: string) => {
      const commandLine = command.replace('GITHUB', ready.github).replace('SLACK', ready.slack);
      return spawnSync('sh', ['-c', commandLine.replace('curl -s', 'curl -s --fail')], {
        encoding: 'utf8',
      });
    };
    for (const command of [
      'curl -s GITHUB/repos/acme/uploader/issues/7/comments',
      'curl -s SLACK/commands/T/1/x',
    ])
      expect(curl(command)).toMatchObject({ status: 0, stdout: '[]' });
  });
});

test('npm run firestore prints the address for programs', () =>
  printed('npm run firestore', ['--', '--port', '0'], /FIRESTORE_EMULATOR_HOST=127\.0\.0\.1:\d+/));

test('npm run console:dev serves the console', async () => {
  const url = await printed('npm run console:dev', ['--', '--port', '0'], /http:\/\/[\w.]+:\d+\//);
  expect(await (await fetch(url)).text()).toContain('<script');
});

test('npm run sweep crashes a run at one point, and it recovers', () => {
  const words = ['run', 'sweep', '--', '--scenario', 'large-output', '--point', '45'];
  const { status, stdout, stderr } = spawnSync('npm', words, { cwd: ROOT, env, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toContain('"kind": "recovered"');
});
