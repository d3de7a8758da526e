/** A second `cairn init` after another version of the packages was installed beside `firebase.json`. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Files, filesOf } from '../../../packages/cli/src/init/files.ts';
import { packageManagerOf, usablePackage } from '../../../packages/cli/src/init/project.ts';
import { decodeRecord } from '../../../packages/cli/src/init/record.ts';
import { applyUpgrade, upgradeOf } from '../../../packages/cli/src/init/upgrade.ts';
import {
  FUNCTIONS,
  IGNORES,
  INDEXES,
  type Installed,
  install,
  installed,
  MANIFEST,
  projectWith as madeWith,
  RECORD,
  TARBALLS,
  withEarlierIgnores,
} from './installed.ts';
import { integrityOf, isThere, leavePackages, type TemporaryProject } from './project.ts';

const opened: TemporaryProject[] = [];
afterEach(() => {
  for (const project of opened.splice(0)) project.dispose();
});

function projectWith(one: Installed): TemporaryProject {
  const project = madeWith(one);
  opened.push(project);
  return project;
}

/** The version in the codebase's package.json, or the content of its tarball. */
function neededBy(project: TemporaryProject): string {
  const files = project.files();
  const { cairn } = JSON.parse(files[FUNCTIONS] ?? '').dependencies;
  const path = /^file:(.*)$/.exec(cairn)?.[1];
  return path === undefined ? cairn : (files[`cairn/${path}`] ?? `${path} is missing`);
}

test('updates the codebase once, keeps other additions, and can be undone', async () => {
  await fc.assert(
    fc.asyncProperty(installed, fc.array(installed, { minLength: 1, maxLength: 4 }), async (first, later) => {
      const project = projectWith(first);
      const before = Object.keys(project.files());
      expect(await project.init(['--yes'])).toMatchObject({ code: 0 });
      for (const one of later) {
        install(project, one);
        const { code, out } = await project.init(['--yes']);
        expect([code, neededBy(project)]).toEqual([0, one.content ?? one.version]);
        expect(out).toMatch(/Nothing to change|has Cairn/);
        const tarballs = Object.keys(project.files()).filter((path) => path.startsWith('cairn/packages/'));
        expect(tarballs).toHaveLength(one.content === undefined ? 0 : 1);
        const again = await project.init(['--yes']);
        expect([again.out, again.programs]).toEqual([expect.stringContaining('Nothing to change'), []]);
      }
      expect(await project.init(['--undo', '--yes'])).toMatchObject({ code: 0 });
      const left = Object.keys(project.files()).filter((path) => !path.startsWith('packed/'));
      expect(left).toEqual(before.filter((path) => !path.startsWith('packed/')));
    }),
    { numRuns: 30 },
  );
});

test('changes only the version in an edited package.json, and gives advice about edited indexes', async () => {
  const project = projectWith({ version: '0.2.0', content: undefined });
  await project.init(['--yes']);
  const edited = (project.files()[FUNCTIONS] ?? '').replace('"zod"', '"stripe": "1.0.0",\n    "zod"');
  project.write(FUNCTIONS, edited);
  project.write('cairn/firestore.indexes.json', '{"indexes": []}');
  install(project, { version: '0.3.0', content: undefined });
  const { out, programs } = await project.init(['--yes', '--json']);
  expect(project.files()[FUNCTIONS]).toBe(edited.replace('"cairn": "0.2.0"', '"cairn": "0.3.0"'));
  expect(project.files()['cairn/firestore.indexes.json']).toBe('{"indexes": []}');
  const { from, to, advice } = JSON.parse(out);
  expect([from, to, advice]).toEqual([
    '0.2.0',
    '0.3.0',
    [expect.stringContaining('cairn indexes --prefix cairn_')],
  ]);
  expect(programs).toEqual([expect.stringContaining('npm install')]);
});

/** Writes the indexes of an earlier version into the codebase. @returns those of this version */
function withEarlierIndexes(project: TemporaryProject): string {
  const { [INDEXES]: indexes = '', [RECORD]: text = '' } = project.files();
  const earlier = '{"indexes": []}';
  const record = JSON.parse(text);
  for (const one of record.created)
    if (one.path === INDEXES) one.sha256 = createHash('sha256').update(earlier).digest('hex');
  project.write(RECORD, JSON.stringify(record));
  project.write(INDEXES, earlier);
  return indexes;
}

test('replaces unedited indexes', async () => {
  const project = projectWith({ version: '0.2.0', content: undefined });
  await project.init(['--yes']);
  const indexes = withEarlierIndexes(project);
  install(project, { version: '0.3.0', content: undefined });
  await project.init(['--yes']);
  expect(project.files()[INDEXES]).toBe(indexes);
});

test('names the deployment of the indexes before that of the functions', async () => {
  const project = projectWith({ version: '0.2.0', content: undefined });
  await project.init(['--yes']);
  install(project, { version: '0.3.0', content: undefined });
  const { out } = await project.init(['--yes', '--json']);
  const commands = JSON.parse(out).next.map(({ command }: { command: string }) => command);
  expect(commands.filter((command: string) => command.startsWith('firebase '))).toEqual([
    'firebase deploy --only firestore:cairn',
    'firebase deploy --only functions:cairn',
  ]);
});

describe('a process that dies at any write of it', () => {
  /** @returns false if the upgrade ended before that write */
  function diesAt(change: number, project: TemporaryProject): boolean {
    const files = filesOf(project.root);
    const record = decodeRecord(Buffer.from(files.read(RECORD) ?? []).toString(), 'cairn');
    const found = usablePackage(project.root);
    if (!found) throw new Error('no package');
    const source = { installed: found, packageManager: packageManagerOf(project.root) };
    const plan = upgradeOf(record, source, (path) => files.read(path));
    if (!plan) return false;
    const mortal = dyingFiles(files, change);
    try {
      applyUpgrade('cairn', plan, mortal);
      return false;
    } catch (error) {
      if (mortal.isAlive()) throw error;
      return true;
    }
  }

  const old = { version: '0.2.0', content: 'first build' };
  const upgrades: [string, Installed, Installed, string][] = [
    ['another version', old, { version: '0.3.0', content: 'second build' }, 'package-lock.json'],
    ['another build', old, { version: '0.2.0', content: 'second build' }, 'package-lock.json'],
    ['one of a registry', old, { version: '0.3.0', content: undefined }, 'pnpm-lock.yaml'],
    ['a tarball', { version: '0.2.0', content: undefined }, old, 'pnpm-lock.yaml'],
  ];

  test.each(upgrades)(
    'to %s leaves a state that the next init completes or an undo clears',
    async (...given) => {
      const [, first, second, lock] = given;
      let deaths = 0;
      for (let isDead = true; isDead; deaths += 1)
        for (const isCompleted of [true, false]) {
          const project = projectWith(first);
          await project.init(['--yes']);
          const indexes = withEarlierIndexes(project);
          withEarlierIgnores(project, 'dist/\n');
          project.write(lock, '');
          install(project, second);
          isDead = diesAt(deaths + 1, project);
          if (isCompleted) {
            const { out, err } = await project.init(['--yes']);
            expect(out + err).not.toContain('was edited');
            expectCompleted(project, { second, indexes });
            leavePackages(join(project.root, 'cairn'));
            expect((await project.init(['--yes'])).out).toContain('Nothing to change');
          }
          await expectUndone(project);
        }
      expect(deaths).toBeGreaterThan(8);
    },
  );

  interface Completed {
    readonly second: Installed;
    readonly indexes: string;
  }

  function expectCompleted(project: TemporaryProject, { second, indexes }: Completed): void {
    const files = project.files();
    const needed = second.content ?? second.version;
    expect([neededBy(project), files[INDEXES]]).toEqual([needed, indexes]);
    const paths = Object.keys(files);
    const tarballs = paths.filter((path) => path.startsWith('cairn/packages/'));
    expect(tarballs).toHaveLength(second.content === undefined ? 0 : 1);
    expect(paths.filter((path) => path.endsWith('.cairn-init'))).toEqual([]);
    expect(files[IGNORES]?.split('\n')).toEqual(
      expect.arrayContaining(['cairn/*.local', ...(second.content === undefined ? [] : [TARBALLS])]),
    );
  }

  async function expectUndone(project: TemporaryProject): Promise<void> {
    const { code, out } = await project.init(['--undo', '--yes']);
    expect([code, out]).toEqual([0, expect.not.stringContaining('left:')]);
    expect(Object.keys(project.files()).filter((path) => path.startsWith('cairn/'))).toEqual([]);
    expect(isThere(project, 'cairn')).toBe(false);
    expect(project.files()[IGNORES]).toBe('dist/\n');
    expect(Object.keys(project.files()).filter((path) => path.endsWith('.cairn-init'))).toEqual([]);
  }
});

/** Files whose writes fail from the given one on, like those of a dead process. */
function dyingFiles(files: Files, change: number): Files & { isAlive(): boolean } {
  let changes = 0;
  const living =
    <A extends unknown[], R>(call: (...args: A) => R) =>
    (...args: A): R => {
      changes += 1;
      if (changes >= change) throw new Error('the process is gone');
      return call(...args);
    };
  return {
    ...files,
    isAlive: () => changes < change,
    write: living(files.write),
    rename: living(files.rename),
    remove: living(files.remove),
    makeFolder: living(files.makeFolder),
    removeFolder: living(files.removeFolder),
  };
}

describe('packages in the folder', () => {
  const PACKAGES = 'cairn/node_modules/cairn/package.json';
  const LOCK = 'cairn/node_modules/.package-lock.json';
  const lockOf = (content: string) =>
    JSON.stringify({ packages: { 'node_modules/cairn': { integrity: integrityOf(content) } } });
  const completed = { [LOCK]: lockOf('second build') };
  const newer = { [PACKAGES]: '{"version": "0.3.0"}' };

  test.each([
    ['none', {}, false],
    ['an older version', { ...completed, [PACKAGES]: '{"version": "0.2.0"}' }, false],
    ['another build', { ...newer, [LOCK]: lockOf('first build') }, false],
    ['only those that an installation got to', newer, false],
    ['all but Cairn', completed, false],
    ['what it needs', { ...completed, ...newer }, true],
    ['its version, by pnpm', { ...newer, 'cairn/node_modules/.modules.yaml': '' }, true],
  ])('are completed by the next init after an installation that failed: %s', async (...given) => {
    const [, files, isComplete] = given;
    const project = projectWith({ version: '0.2.0', content: 'first build' });
    await project.init(['--yes']);
    install(project, { version: '0.3.0', content: 'second build' });
    const failed = await project.init(['--yes'], { program: { code: 1, output: 'EINTEGRITY' } });
    expect(failed.err).toMatch(/INSTALL_FAILED.*EINTEGRITY\nCorrect.*then run cairn init again/);
    project.remove('cairn/node_modules');
    for (const [path, text] of Object.entries(files)) project.write(path, text);
    const told = await project.init(['--no-install']);
    expect([told.code, told.programs, told.out.includes('run npm --prefix cairn install')]).toEqual([
      0,
      [],
      !isComplete,
    ]);
    const { code, out, programs } = await project.init([]);
    expect([code, programs.length]).toEqual([0, isComplete ? 0 : 1]);
    expect(out.includes('The packages of cairn/ are installed')).toBe(!isComplete);
    const again = await project.init([]);
    expect([again.out, again.programs]).toEqual([expect.stringContaining('Nothing to change'), []]);
  });

  test('that cannot be removed are named, and the next init continues', async () => {
    const project = projectWith({ version: '0.2.0', content: 'first build' });
    await project.init(['--yes']);
    install(project, { version: '0.3.0', content: 'second build' });
    const files = filesOf(project.root);
    const read = (path: string) => files.read(path);
    const found = usablePackage(project.root);
    const record = decodeRecord(project.files()[RECORD] ?? '', 'cairn');
    const plan = found && upgradeOf(record, { installed: found, packageManager: 'npm' }, read);
    if (!plan) throw new Error('no upgrade');
    const remove = (path: string) => {
      if (path.endsWith('.tgz')) throw new Error(`EPERM: ${path}`);
      files.remove(path);
    };
    expect(() => applyUpgrade('cairn', plan, { ...files, remove })).toThrow(
      expect.objectContaining({ code: 'WRITE_FAILED', message: expect.stringContaining('EPERM: cairn/') }),
    );
    expect((await project.init(['--yes'])).code).toBe(0);
    expect(Object.keys(project.files()).filter((path) => path.endsWith('.tgz'))).toEqual([
      'cairn/packages/cairn-0.3.0.tgz',
      'packed/cairn-0.2.0.tgz',
      'packed/cairn-0.3.0.tgz',
    ]);
  });
});

test.each([
  ['another package of that name', (project: TemporaryProject) => project.write(MANIFEST, '{"exports":{}}')],
  ['a tarball that is gone', (project: TemporaryProject) => project.remove('packed')],
])('with %s above there is nothing to change', async (_, spoil) => {
  const project = projectWith({ version: '0.2.0', content: 'first build' });
  await project.init(['--yes']);
  spoil(project);
  const before = project.files();
  const { code, out } = await project.init(['--yes']);
  expect([code, out]).toEqual([0, expect.stringContaining('Nothing to change')]);
  expect(project.files()).toEqual(before);
});

test('adds the missing pnpm settings to a codebase', async () => {
  const project = projectWith({ version: '0.2.0', content: undefined });
  await project.init(['--yes']);
  project.write('pnpm-lock.yaml', '');
  const { out } = await project.init(['--yes', '--json']);
  expect(project.files()['cairn/pnpm-workspace.yaml']).toContain("packages: ['.']");
  expect(JSON.parse(out).next[0].command).toBe('pnpm --dir cairn install');
  project.remove('cairn/pnpm-workspace.yaml');
  // A clone without installed packages.
  project.remove('node_modules');
  project.remove('cairn/node_modules');
  const { next } = JSON.parse((await project.init(['--yes', '--json'])).out);
  expect(next[0].command).toBe('pnpm --dir cairn install --ignore-workspace');
});

test('asks first, and changes nothing if the answer is no', async () => {
  const project = projectWith({ version: '0.2.0', content: 'first build' });
  await project.init(['--yes']);
  install(project, { version: '0.3.0', content: 'second build' });
  const before = project.files();
  const { err } = await project.init([], { answer: 'n' });
  expect(err).toContain("gives 'cairn' Cairn 0.3.0 in place of 0.2.0");
  expect(project.files()).toEqual(before);
});

test('restores a missing tarball, as after an interruption', async () => {
  const project = projectWith({ version: '0.2.0', content: 'first build' });
  await project.init(['--yes']);
  project.remove('cairn/packages/cairn-0.2.0.tgz');
  expect((await project.init(['--yes'])).out).toContain('has Cairn 0.2.0');
  expect(neededBy(project)).toBe('first build');
});

test("leaves a dependency of the user's own", async () => {
  const project = projectWith({ version: '0.2.0', content: undefined });
  await project.init(['--yes']);
  project.write(FUNCTIONS, (project.files()[FUNCTIONS] ?? '').replace('"0.2.0"', '"file:../../fork"'));
  install(project, { version: '0.3.0', content: 'second build' });
  const before = project.files();
  expect((await project.init(['--yes'])).out).toContain('Nothing to change');
  expect(project.files()).toEqual(before);
});

test('in a clone without packages changes nothing', async () => {
  const project = projectWith({ version: '0.2.0', content: undefined });
  await project.init(['--yes']);
  project.remove('node_modules');
  const before = project.files();
  const { out } = await project.init(['--yes']);
  expect(out).toContain('Nothing to change');
  project.remove('cairn/node_modules');
  const { err, programs } = await project.init([]);
  expect([err, programs.length]).toEqual([expect.stringContaining('not installed'), 1]);
  expect(project.files()).toEqual(before);
});
