import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { exampleProject, isThere, type TemporaryProject, temporaryProject, withPackage } from './project.ts';

const opened: TemporaryProject[] = [];
afterEach(() => {
  for (const project of opened.splice(0)) project.dispose();
});
const opening = (project: TemporaryProject) => {
  opened.push(project);
  return project;
};
const withFiles = (files: Readonly<Record<string, string>>) => opening(temporaryProject(withPackage(files)));

/** A project with functions in JavaScript. */
const js = { 'firebase.json': '{"functions": {"source": "functions"}}' };

/** A project whose `package.json` names a tarball like this. */
const withTarball = (cairn: string, files: Readonly<Record<string, string>> = {}) =>
  withFiles({
    'firebase.json': '{}',
    'package.json': JSON.stringify({ devDependencies: { cairn } }),
    'packed/cairn-0.2.0.tgz': 'packed',
    ...files,
  });

describe('in the example of an app', () => {
  test('adds a codebase and a database, and changes only what it prints', async () => {
    const project = opening(exampleProject());
    const before = project.files();
    const { code, out, err, programs } = await project.init(['--yes'], { cwd: 'functions' });
    const folder = join(project.root, 'cairn');
    expect(programs).toEqual([
      `${folder} npm install --prefix ${folder} --no-audit --no-fund --loglevel=error`,
    ]);
    expect([code, err]).toEqual([0, expect.stringContaining('cairn/src/index.js')]);
    expect(out).toContain('npx cairn dev');
    const after = project.files();
    const changed = Object.keys(after).filter((path) => after[path] !== before[path]);
    expect(changed).toEqual([
      '.gitignore',
      'cairn/firestore.indexes.json',
      'cairn/firestore.rules',
      'cairn/init-record.json',
      'cairn/package.json',
      'cairn/src/index.js',
      'cairn/src/workflows/order.js',
      'firebase.json',
    ]);
    for (const path of changed) expect(err).toContain(path);
    const { hosting, functions, firestore } = JSON.parse(after['firebase.json'] ?? '');
    const old = JSON.parse(before['firebase.json'] ?? '');
    expect(hosting).toEqual(old.hosting);
    expect(functions).toEqual([
      old.functions,
      expect.objectContaining({ source: 'cairn', codebase: 'cairn' }),
    ]);
    expect(firestore[0]).toEqual({ database: '(default)', ...old.firestore });
    expect(firestore[1]).toEqual({
      database: 'cairn',
      location: 'us-central1',
      rules: 'cairn/firestore.rules',
      indexes: 'cairn/firestore.indexes.json',
    });
    const indexes = JSON.parse(after['cairn/firestore.indexes.json'] ?? '');
    const collections = new Set(
      indexes.indexes.map((one: { collectionGroup: string }) => one.collectionGroup),
    );
    expect(collections).toContain('cairn_runs');
    expect([...collections].filter((name) => String(name).startsWith('gwi_'))).toEqual([]);
  });

  test('does nothing the second time', async () => {
    const project = opening(exampleProject());
    await project.init(['--yes']);
    const before = project.files();
    const { code, out } = await project.init([]);
    expect([code, out]).toEqual([0, expect.stringContaining('Nothing to change')]);
    expect(project.files()).toEqual(before);
  });

  test('restores every byte with --undo, and then has nothing left to undo', async () => {
    const project = opening(exampleProject());
    const before = project.files();
    await project.init(['--yes']);
    expect((await project.init(['--undo', '--yes'])).code).toBe(0);
    expect(project.files()).toEqual(before);
    expect(isThere(project, 'cairn')).toBe(false);
    const again = await project.init(['--undo', '--yes', '--json']);
    expect(JSON.parse(again.err).error.code).toBe('NO_RECORD');
  });

  test('asks first, and changes nothing without a yes', async () => {
    const project = opening(exampleProject());
    const before = project.files();
    for (const answer of ['', 'n', undefined]) {
      const { code, err } = await project.init([], answer === undefined ? {} : { answer });
      expect([code, err]).toEqual([2, expect.stringContaining('NOT_CONFIRMED')]);
      expect(project.files()).toEqual(before);
    }
    expect((await project.init([], { answer: 'y' })).code).toBe(0);
    expect(isThere(project, 'cairn/src/index.js')).toBe(true);
  });
});

test('an init that died before its first rename does not block the next one', async () => {
  const left = {
    'firebase.json.cairn-init': '{}',
    'cairn/init-record.json.cairn-init': '{"versi',
    'cairn/src/workflows/order.js.cairn-init': '',
  };
  const project = withFiles({ 'firebase.json': '{}', ...left });
  const { code, err } = await project.init(['--undo', '--yes', '--json']);
  expect([code, JSON.parse(err).error.code]).toEqual([1, 'NO_RECORD']);
  expect(project.files()).toEqual({ 'firebase.json': '{}' });
  for (const [path, text] of Object.entries(left)) project.write(path, text);
  expect((await project.init(['--yes'])).code).toBe(0);
  expect(Object.keys(project.files()).filter((path) => path.endsWith('.cairn-init'))).toEqual([]);
});

test('the removal of left-over files does not follow symbolic links', async () => {
  const project = withFiles({
    'firebase.json': '{}',
    'linked/empty/a.cairn-init': 'theirs',
    'cairn/init-record.json.cairn-init': '{"versi',
  });
  symlinkSync(join(project.root, 'linked'), join(project.root, 'cairn/linked'));
  const { code, err } = await project.init(['--undo', '--yes', '--json']);
  expect([code, JSON.parse(err).error.code]).toEqual([1, 'NO_RECORD']);
  expect(readFileSync(join(project.root, 'linked/empty/a.cairn-init'), 'utf8')).toBe('theirs');
  expect(existsSync(join(project.root, 'cairn/init-record.json.cairn-init'))).toBe(false);
});

test('an empty folder of that name is used; other files with the same suffix stay', async () => {
  const project = withFiles({ 'firebase.json': '{}', 'cairn/notes.cairn-init': 'theirs' });
  expect((await project.init(['--yes'])).err).toContain('NAME_TAKEN');
  expect(project.files()['cairn/notes.cairn-init']).toBe('theirs');
  project.remove('cairn/notes.cairn-init');
  expect((await project.init(['--yes'])).code).toBe(0);
});

test('--undo says how to remove what other commands created', async () => {
  const project = withFiles({
    'firebase.json': '{}',
    'package.json': '{"devDependencies": {"@cairn/cli": "0.2.0", "cairn": "0.2.0", "jest": "30.0.0"}}',
    '.cairn/dev.json': '{}',
  });
  await project.init(['--yes']);
  const { out } = await project.init(['--undo', '--yes', '--json']);
  const commands = JSON.parse(out).next.map(({ command }: { command: string }) => command);
  expect(commands).toEqual([
    'rm -r .cairn',
    'npm uninstall @cairn/cli cairn',
    'firebase functions:delete cairn',
    'firebase firestore:databases:delete cairn',
  ]);
});

test('the output of init and its undo fits 80 columns, except commands to copy', async () => {
  const project = withFiles({
    'firebase.json': '{"firestore": {"rules": "firestore.rules"}, "functions": {"source": "f"}}',
    'f/tsconfig.json': '{}',
    'package.json':
      '{"devDependencies": {"cairn": "file:packed/cairn-0.2.0.tgz", "@cairn/cli": "0.2.0", "@cairn/local": "0.2.0", "@cairn/local-firestore": "0.2.0"}}',
    'packed/cairn-0.2.0.tgz': 'packed',
    '.cairn/dev.json': '{}',
  });
  const outputs = [
    await project.init(['--yes']),
    await project.init([]),
    await project.init(['--undo', '--yes']),
  ];
  const lines = outputs
    .flatMap(({ out, err }) => `${out}${err}`.split('\n'))
    .filter((line) => !line.includes(project.root));
  expect(lines.filter((line) => line.length > 80 && !/^ {2}npm /.test(line))).toEqual([]);
});

describe('what was edited since', () => {
  test('is kept and reported by --undo; entries and lines of Cairn are removed from the app’s files', async () => {
    const project = opening(exampleProject());
    const before = project.files();
    await project.init(['--yes']);
    const edit = (path: string, change: (text: string) => string) =>
      project.write(path, change(project.files()[path] ?? ''));
    edit('cairn/src/index.js', (text) => `${text}// mine\n`);
    edit('firebase.json', (text) => text.replace('"public": "public"', '"public": "site"'));
    edit('.gitignore', (text) => `${text}coverage/\n`);
    project.write('cairn/src/refund.js', '// mine\n');
    // Printed before the confirmation, by the same decisions.
    const edited = project.files();
    const { err } = await project.init(['--undo'], { answer: 'n' });
    expect(project.files()).toEqual(edited);
    const [removed = '', takenOut = '', left = ''] = err.split(/It (?:takes|leaves)/);
    expect(removed).toContain('  cairn/package.json\n');
    expect(removed).not.toMatch(/firebase\.json|cairn\/src\/index\.js/);
    expect(takenOut).toContain('  firebase.json\n  .gitignore\n');
    expect(left).toContain(
      '  cairn/src/index.js: it was edited since\n  cairn/src/refund.js: cairn init did not write it\n',
    );
    const { code, out } = await project.init(['--undo', '--yes', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      takenOut: ['firebase.json', '.gitignore'],
      left: [
        { path: 'cairn/src/index.js', why: 'it was edited since' },
        { path: 'cairn/src/refund.js', why: 'cairn init did not write it' },
      ],
    });
    const after = project.files();
    expect(Object.keys(after).filter((path) => path.startsWith('cairn'))).toEqual([
      'cairn/src/index.js',
      'cairn/src/refund.js',
    ]);
    expect(after['.gitignore']).toBe(`${before['.gitignore']}coverage/\n`);
    const { functions, firestore, hosting } = JSON.parse(after['firebase.json'] ?? '');
    const old = JSON.parse(before['firebase.json'] ?? '');
    expect([functions, hosting.public]).toEqual([[old.functions], 'site']);
    expect(firestore).toEqual([{ database: '(default)', ...old.firestore }]);
  });
});

describe('what was installed and built in the folder', () => {
  const installed = {
    'cairn/node_modules/zod/index.js': '',
    'cairn/package-lock.json': '{}',
    'cairn/lib/index.js': '',
  };
  const withTypescript = { 'firebase.json': '{"functions": {"source": "f"}}', 'f/tsconfig.json': '{}' };

  test('is removed by --undo', async () => {
    const project = withFiles(withTypescript);
    const before = project.files();
    await project.init(['--yes']);
    for (const [path, text] of Object.entries(installed)) project.write(path, text);
    expect((await project.init(['--undo', '--yes'])).code).toBe(0);
    expect(project.files()).toEqual(before);
    expect(isThere(project, 'cairn')).toBe(false);
  });

  test('stays if its source files were edited', async () => {
    const project = withFiles(withTypescript);
    await project.init(['--yes']);
    for (const path of ['cairn/package.json', 'cairn/tsconfig.json'])
      project.write(path, `${project.files()[path]}\n`);
    for (const [path, text] of Object.entries(installed)) project.write(path, text);
    const { out } = await project.init(['--undo', '--yes']);
    expect(Object.keys(installed).filter((path) => !isThere(project, path))).toEqual([]);
    expect(out).toContain('left: cairn/node_modules: cairn init did not write it\n');
  });

  test('is reported as missing if npm fails, and the files stay', async () => {
    const project = withFiles(withTypescript);
    const program = { code: 1, output: 'npm error code E404' };
    const { code, err } = await project.init(['--yes'], { program });
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/INSTALL_FAILED.*E404\nCorrect what npm names, then run cairn init again/),
    ]);
    expect((await project.init(['--yes', '--no-install', '--undo'])).code).toBe(0);
    expect((await project.init(['--yes', '--no-install'], { program })).code).toBe(0);
  });
});

describe('other projects', () => {
  test('with functions in TypeScript get TypeScript, and a build before a deployment', async () => {
    const project = withFiles({
      'firebase.json': '{"functions": [{"source": "api", "codebase": "api"}]}',
      'api/tsconfig.json': '{}',
    });
    expect((await project.init(['--yes'])).code).toBe(0);
    const files = project.files();
    expect(files['cairn/src/index.ts']).toContain("from './workflows/order.ts'");
    expect(files['.gitignore']).toBe('.cairn/\ncairn/node_modules/\ncairn/lib/\ncairn/*.local\n');
    expect(JSON.parse(files['cairn/package.json'] ?? '')).toMatchObject({
      type: 'module',
      main: 'lib/index.js',
      scripts: { build: 'tsc' },
    });
    expect(JSON.parse(files['firebase.json'] ?? '').functions[1].predeploy).toEqual([
      'npm --prefix "$RESOURCE_DIR" run build',
    ]);
  });

  test('without functions or Firestore get both, and a second installation under another name', async () => {
    const project = withFiles({ 'firebase.json': '{}\n' });
    expect((await project.init(['--yes'])).code).toBe(0);
    const other = (await project.init(['--yes', '--name', 'shop'])).err;
    expect(other).toContain('ALREADY_ADOPTED');
    expect(other).toContain('cairn init gives it the installed version.');
    expect(await project.init(['--undo', '--yes'])).toMatchObject({ code: 0 });
    expect(project.files()).toEqual({ 'firebase.json': '{}\n' });
    expect((await project.init(['--yes', '--name', 'shop'])).code).toBe(0);
    expect(project.files()['shop/src/index.js']).toContain(
      "export const shop = cairnFunctions({\n  workflows: [order],\n  region: 'us-central1',\n  database: 'shop',",
    );
    expect(project.files()['shop/firestore.indexes.json']).toContain('"shop_runs"');
  });

  test('with another name than the default get it in each printed init command', async () => {
    const project = withFiles({ 'firebase.json': '{}\n' });
    expect((await project.init(['--yes', '--name', 'shop'])).code).toBe(0);
    const told = async (...words: string[]) => {
      const { out, err } = await project.init([...words, '--yes']);
      return `${out}${err}`.replace(/\s+/g, ' ');
    };
    expect(await told('--undo')).toContain(
      'To take out what cairn init added here, run cairn init --undo --name shop.',
    );
    expect(await told()).toContain(
      'If cairn init added it, cairn init --name shop gives it the installed version.',
    );
    expect(await told('--name', 'shop')).toContain('cairn init --undo --name shop removes it.');
    const { functions: _, ...rest } = JSON.parse(project.files()['firebase.json'] ?? '') as object & {
      functions?: unknown;
    };
    project.write('firebase.json', JSON.stringify(rest));
    expect(await told('--name', 'shop')).toContain(
      'Run cairn init --undo --name shop, then cairn init --name shop.',
    );
    expect((await project.init(['--undo', '--yes', '--name', 'shop'])).code).toBe(0);
    expect(await told('--undo')).toContain('cairn init was not run here, or was undone.');
  });

  test('with cairn from a file get a copy in the codebase, which is all that a deployment sees', async () => {
    const project = withTarball('file:packed/cairn-0.2.0.tgz');
    await project.init(['--yes']);
    const files = project.files();
    expect(files['cairn/packages/cairn-0.2.0.tgz']).toBe('packed');
    expect(JSON.parse(files['cairn/package.json'] ?? '').dependencies.cairn).toBe(
      'file:packages/cairn-0.2.0.tgz',
    );
  });

  test('with cairn from a file in the form of Yarn, without `file:`, get a copy in the codebase too', async () => {
    const project = withTarball('./packed/cairn-0.2.0.tgz', { 'yarn.lock': '' });
    await project.init(['--yes']);
    expect(JSON.parse(project.files()['cairn/package.json'] ?? '').dependencies.cairn).toBe(
      'file:packages/cairn-0.2.0.tgz',
    );
  });

  test('that ignore tarballs but not local files still commit the package, and no secret', async () => {
    const project = withTarball('file:packed/cairn-0.2.0.tgz', { '.gitignore': 'node_modules/\n*.tgz\n' });
    await project.init(['--yes']);
    project.write('cairn/.secret.local', 'STRIPE_KEY=sk_live');
    const git = (...args: string[]) => spawnSync('git', args, { cwd: project.root, encoding: 'utf8' });
    git('init', '--quiet');
    const isIgnored = (path: string) => git('check-ignore', '--quiet', path).status === 0;
    expect(isIgnored('cairn/packages/cairn-0.2.0.tgz')).toBe(false);
    expect(isIgnored('cairn/.secret.local')).toBe(true);
    expect(isIgnored('cairn/.env.local')).toBe(true);
    expect(isIgnored('cairn/src/index.js')).toBe(false);
  });

  test('with a folder of functions that firebase.json does not name do not deploy it afterwards', async () => {
    const project = withFiles({ 'firebase.json': '{"hosting": {}}', 'functions/package.json': '{}' });
    await project.init(['--yes']);
    const { functions } = JSON.parse(project.files()['firebase.json'] ?? '');
    expect(functions).toEqual([expect.objectContaining({ codebase: 'cairn' })]);
  });

  test('may have modules that are not UTF-8, and a manifest with a byte order mark', async () => {
    const project = withFiles({ ...js, 'functions/package.json': '\uFEFF{"main": "main.js"}' });
    const text = Buffer.from("// caf\xe9\nsetGlobalOptions({ region: 'europe-west1' });\n", 'latin1');
    writeFileSync(join(project.root, 'functions/main.js'), text);
    const { code, out } = await project.init(['--yes', '--json']);
    expect([code, JSON.parse(out).region]).toEqual([0, 'europe-west1']);
  });

  test('keep firebase.json a symbolic link', async () => {
    const project = withFiles({ 'config/firebase.json': '{}' });
    symlinkSync('config/firebase.json', join(project.root, 'firebase.json'));
    await project.init(['--yes']);
    expect(project.files()['config/firebase.json']).toContain('"codebase": "cairn"');
  });
});
