/** A second `cairn init` after another version of the packages was installed beside `firebase.json`. */
import { afterEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type TemporaryProject, temporaryProject, withPackage } from './project.ts';

const opened: TemporaryProject[] = [];
afterEach(() => {
  for (const project of opened.splice(0)) project.dispose();
});

const MANIFEST = 'node_modules/cairn/package.json';
const FUNCTIONS = 'cairn/package.json';

interface Installed {
  readonly version: string;
  /** Content of the tarball; undefined: from a registry. */
  readonly content: string | undefined;
}

/** As a package manager leaves it. */
function install(project: TemporaryProject, { version, content }: Installed): void {
  const { [MANIFEST]: text = '{}' } = withPackage({});
  project.write(MANIFEST, JSON.stringify({ ...JSON.parse(text), version }));
  const tarball = `packed/cairn-${version}.tgz`;
  if (content !== undefined) project.write(tarball, content);
  const cairn = content === undefined ? version : `file:${tarball}`;
  project.write('package.json', JSON.stringify({ devDependencies: { cairn } }));
}

function projectWith(installed: Installed): TemporaryProject {
  const project = temporaryProject(withPackage({ 'firebase.json': '{}' }));
  opened.push(project);
  install(project, installed);
  return project;
}

/** The version that the codebase needs, or the content of the tarball that it names. */
function neededBy(project: TemporaryProject): string {
  const files = project.files();
  const { cairn } = JSON.parse(files[FUNCTIONS] ?? '').dependencies;
  const path = /^file:(.*)$/.exec(cairn)?.[1];
  return path === undefined ? cairn : (files[`cairn/${path}`] ?? `${path} is missing`);
}

const installed = fc.record({
  version: fc.constantFrom('0.2.0', '0.3.0'),
  content: fc.option(fc.constantFrom('first build', 'second build'), { nil: undefined }),
});

test('gives the codebase what is installed, once, keeps what others added, and is undone', async () => {
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

test('keeps an edited package.json but for the version, and says what to do about edited indexes', async () => {
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

test('replaces the indexes that nobody edited', async () => {
  const project = projectWith({ version: '0.2.0', content: undefined });
  await project.init(['--yes']);
  const { 'cairn/firestore.indexes.json': indexes = '', 'cairn/init-record.json': text = '' } =
    project.files();
  // As an earlier version wrote them.
  const earlier = '{"indexes": []}';
  const record = JSON.parse(text);
  const { createHash } = await import('node:crypto');
  for (const one of record.created)
    if (one.path.endsWith('indexes.json')) one.sha256 = createHash('sha256').update(earlier).digest('hex');
  project.write('cairn/init-record.json', JSON.stringify(record));
  project.write('cairn/firestore.indexes.json', earlier);
  install(project, { version: '0.3.0', content: undefined });
  await project.init(['--yes']);
  expect(project.files()['cairn/firestore.indexes.json']).toBe(indexes);
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

test('puts a tarball back that is missing, as after an interruption', async () => {
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
  const { out } = await project.init(['--yes']);
  expect(out).toContain('Nothing to change');
});
