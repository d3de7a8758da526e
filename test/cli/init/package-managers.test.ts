/** Commands that `cairn init` prints for each package manager. */
import { afterEach, expect, test } from '@jest/globals';
import { type TemporaryProject, temporaryProject, withPackage } from './project.ts';

const opened: TemporaryProject[] = [];
afterEach(() => {
  for (const project of opened.splice(0)) project.dispose();
});
const opening = (files: Readonly<Record<string, string>>) => {
  const project = temporaryProject(files);
  opened.push(project);
  return project;
};

test('a project with Yarn but without node_modules gets the setting that creates it', async () => {
  const project = opening({ 'firebase.json': '{}', '.pnp.cjs': '' });
  const { err } = await project.init(['--yes']);
  expect(err).toMatch(/NOT_INSTALLED.*Plug'n'Play.*\n.*nodeLinker: node-modules.*\.yarnrc\.yml/);
});

test.each([
  ['pnpm-lock.yaml', 'pnpm --dir cairn install', 'pnpm exec cairn dev'],
  ['yarn.lock', 'npm --prefix cairn install', 'yarn cairn dev'],
  ['bun.lock', 'bun install --cwd cairn', 'bunx cairn dev'],
])('prints the commands for %s', async (lock, install, develop) => {
  const project = opening(withPackage({ 'firebase.json': '{}', [lock]: '' }));
  const { out, programs } = await project.init(['--yes', '--json']);
  expect(programs).toEqual([]);
  const [first, second] = JSON.parse(out).next;
  expect([first.command, second.command]).toEqual([install, develop]);
});

test.each([
  ['pnpm', { 'pnpm-workspace.yaml': "packages: ['*']", 'pnpm-lock.yaml': '' }, true],
  ['pnpm without a workspace', { 'pnpm-lock.yaml': '' }, true],
  ['npm', { 'package-lock.json': '{}' }, false],
])(
  'the folder is a separate project in which ignored build scripts do not fail, for %s: %s',
  async (...given) => {
    const [, files, isWritten] = given;
    const project = opening(withPackage({ 'firebase.json': '{}', ...files }));
    await project.init(['--yes', '--no-install']);
    const settings = project.files()['cairn/pnpm-workspace.yaml'];
    expect(settings !== undefined).toBe(isWritten);
    // Otherwise pnpm 11 and newer fail, locally and in the build of a deployment.
    if (isWritten) expect(settings).toMatch(/^packages: \['\.'\]\nstrictDepBuilds: false$/m);
    await project.init(['--undo', '--yes']);
    expect(project.files()['cairn/pnpm-workspace.yaml']).toBeUndefined();
  },
);

test.each([
  ['pnpm', { 'pnpm-workspace.yaml': '', 'pnpm-lock.yaml': '' }, 'pnpm exec cairn dev'],
  ['Yarn', { 'package.json': '{"workspaces": ["apps/*"]}', 'yarn.lock': '' }, 'yarn cairn dev'],
  ['npm', { 'package.json': '{"workspaces": []}', 'package-lock.json': '{}' }, 'npx cairn dev'],
  [
    'no package manager, with an unrelated lock file',
    { 'package.json': '{}', 'yarn.lock': '' },
    'npx cairn dev',
  ],
])('prints the commands in a workspace of %s', async (_, above, develop) => {
  const project = opening(withPackage({ 'apps/shop/firebase.json': '{}', ...above }));
  const { out } = await project.init(['--yes', '--json', '--no-install'], { cwd: 'apps/shop' });
  expect(JSON.parse(out).next[1].command).toBe(develop);
});
