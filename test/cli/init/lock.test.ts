/** Several `cairn init` in one project at once. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from '@jest/globals';
import { alone, lockFileOf } from '../../../packages/cli/src/init/lock.ts';
import { ROOT, type TemporaryProject, temporaryProject, withPackage } from './project.ts';

const opened: TemporaryProject[] = [];
afterEach(() => {
  for (const project of opened.splice(0)) project.dispose();
});

function emptyProject(): TemporaryProject {
  const project = temporaryProject(withPackage({ 'firebase.json': '{}' }));
  opened.push(project);
  return project;
}

const MAIN = `${ROOT}packages/cli/src/main.ts`;

async function initIn({ root }: TemporaryProject, ...words: string[]) {
  const argv = ['--disable-warning=ExperimentalWarning', MAIN, 'init', '--yes', '--json', ...words];
  const child = spawn(process.execPath, argv, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, answer: JSON.parse(out || err) };
}

test('each of several processes succeeds or reports another one, and the result is consistent', async () => {
  const project = emptyProject();
  const regions = ['europe-west1', 'us-east4', 'asia-south1'];
  const ends = await Promise.all(
    regions.map((region) => initIn(project, '--no-install', '--region', region)),
  );
  for (const { code, answer } of ends)
    if (code !== 0) expect([code, answer.error.code]).toEqual([1, 'UNDER_WAY']);
  const added = ends.filter(({ answer }) => answer.changes?.length > 0);
  expect(added).toHaveLength(1);
  const files = project.files();
  const [{ answer } = { answer: {} }] = added;
  expect(files['cairn/src/index.js']).toContain(`region: '${answer.region}'`);
  expect(files['firebase.json']).toContain(`"location": "${answer.region}"`);
  expect(Object.keys(files).filter((path) => path.endsWith('.cairn-init'))).toEqual([]);
  expect((await initIn(project, '--undo')).code).toBe(0);
  expect(project.files()).toEqual({ 'firebase.json': '{}' });
});

test('a second init is refused while the first installs, and accepted afterwards', async () => {
  const project = emptyProject();
  let others: { readonly code: number; readonly err: string; readonly programs: readonly string[] }[] = [];
  const first = await project.init(['--yes'], {
    async during() {
      const before = project.files();
      others = [await project.init(['--yes']), await project.init(['--undo', '--yes'])];
      expect(project.files()).toEqual(before);
    },
  });
  expect(first.code).toBe(0);
  for (const { code, err, programs } of others)
    expect([code, err, programs]).toEqual([1, expect.stringContaining('UNDER_WAY another cairn init'), []]);
  expect(others).toHaveLength(2);
  expect(await project.init(['--yes'])).toMatchObject({ code: 0 });
  expect(existsSync(lockFileOf(project.root))).toBe(false);
});

test('a killed init does not block one or two others, and leaves no file', async () => {
  const { root } = emptyProject();
  const dead = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(dead, 'exit');
  const file = lockFileOf(root);
  writeFileSync(file, `${dead.pid}`);
  const work = () => alone(root, async () => existsSync(file));
  const ends = await Promise.allSettled([work(), work()]);
  expect(ends).toMatchObject([
    { status: 'fulfilled', value: true },
    { status: 'rejected', reason: { code: 'UNDER_WAY' } },
  ]);
  const left = readdirSync(dirname(file)).filter((name) => name.startsWith(basename(file)));
  expect(left).toEqual([]);
});

test('a failed init does not block others', async () => {
  const { root } = emptyProject();
  await expect(alone(root, () => Promise.reject(new Error('boom')))).rejects.toThrow('boom');
  expect(await alone(root, async () => 'done')).toBe('done');
});
