/* biome-ignore-all lint/suspicious/noTemplateCurlyInString: made-up sources hold templates */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { byChance } from './support/architecture/chance.ts';
import { codeOf, importsOf } from './support/architecture/code.ts';
import {
  differingVersions,
  type PackageFile,
  undeclared,
  untestedPeers,
} from './support/architecture/packages.ts';
import {
  banned,
  crowded,
  exportedForNobody,
  headless,
  LAYERS,
  layering,
  MAX_LINES,
  rings,
  type SourceFile,
  stateful,
  subjectless,
  tooLong,
} from './support/architecture/rules.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PACKAGES = readdirSync(`${ROOT}packages`).map((name) => `packages/${name}`);
const FOLDERS = ['functions/src', ...PACKAGES.map((name) => `${name}/src`), 'test', 'scripts', 'bench'];
/** A lower limit made folders that hold a single file. */
const MAX_FILES_A_FOLDER = 20;

const read = (path: string) => readFileSync(`${ROOT}${path}`, 'utf8');
const readJson = (path: string): unknown => JSON.parse(read(path));

const FILES: readonly SourceFile[] = FOLDERS.filter((folder) => existsSync(`${ROOT}${folder}`)).flatMap(
  (folder) =>
    readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .filter((path) => /\.(?:tsx?|mjs|cjs|js)$/.test(path))
      .map((path) => ({ path, text: read(path) })),
);

describe('the project', () => {
  test('is read as a whole', () => {
    expect(FILES.length).toBeGreaterThan(150);
    for (const folder of [
      'functions',
      'packages/cairn',
      'packages/cli',
      'packages/local',
      'test',
      'scripts',
    ]) {
      expect(FILES.some(({ path }) => path.startsWith(`${folder}/`))).toBe(true);
    }
    for (const layer of ['core', 'ports', 'engine', 'store', 'api', 'platform', 'index.ts']) {
      expect(FILES.some(({ path }) => path.startsWith(`packages/cairn/src/${layer}`))).toBe(true);
    }
  });

  test('imports in the allowed direction only', () => {
    expect(FILES.flatMap(layering)).toEqual([]);
  });

  test('has no modules that import each other in a ring', () => {
    expect(rings(FILES)).toEqual([]);
  });

  test('exports what another file uses', () => {
    const entries = PACKAGES.flatMap((folder) => {
      const { exports = {} } = readJson(`${folder}/package.json`) as { exports?: Record<string, string> };
      return Object.values(exports).map((file) => posix.join(folder, file));
    });
    expect(exportedForNobody(FILES, new Set(entries))).toEqual([]);
  });

  test('reaches the world only where it comes in, and leaves no notes to itself', () => {
    expect(FILES.flatMap(banned)).toEqual([]);
  });

  test('has no test that is red on a slow machine', () => {
    expect(FILES.flatMap(byChance)).toEqual([]);
  });

  test('keeps no state in the modules that test files share', () => {
    expect(FILES.flatMap(stateful)).toEqual([]);
  });

  test(`has no file of more than ${MAX_LINES} lines and no folder of more than ${MAX_FILES_A_FOLDER} files`, () => {
    expect(FILES.flatMap(tooLong)).toEqual([]);
    expect(
      crowded(
        FILES.map(({ path }) => path),
        MAX_FILES_A_FOLDER,
      ),
    ).toEqual([]);
  });

  test('writes the end of a run in one place', () => {
    const ends = /type: '(run_completed|run_failed|run_cancelled)'/;
    const writers = FILES.filter(
      ({ path, text }) =>
        /^packages\/cairn\/src\/(engine|operations|recovery|journal|api|triggers)\//.test(path) &&
        ends.test(text),
    );
    expect(writers.map(({ path }) => path)).toEqual(['packages/cairn/src/engine/recording/terminal.ts']);
  });

  test('says at the head of every file what it owns', () => {
    expect(FILES.flatMap(headless)).toEqual([]);
  });

  test('begins comments with their subject', () => {
    expect(FILES.flatMap(subjectless)).toEqual([]);
  });
});

describe('the packages', () => {
  const root = readJson('package.json') as PackageFile;
  const manifest = (folder: string) => readJson(`${folder}/package.json`) as PackageFile;
  const importedIn = (folder: string) =>
    FILES.filter(({ path }) => path.startsWith(`${folder}/src/`)).flatMap(({ text }) => importsOf(text));

  test.each(PACKAGES)('%s declares what it imports, in the versions that are tested', (folder) => {
    const own = manifest(folder);
    const versions = Object.fromEntries(
      PACKAGES.map((name) => [manifest(name).name, manifest(name).version]),
    );
    expect(differingVersions({ ...root, dependencies: { ...root.dependencies, ...versions } }, own)).toEqual(
      [],
    );
    expect(untestedPeers(root, own)).toEqual([]);
    const all = { ...own, dependencies: { ...own.dependencies, ...own.devDependencies } };
    const imported = importedIn(folder);
    expect(
      undeclared(
        imported.filter(({ typeOnly }) => typeOnly).map(({ from }) => from),
        all,
      ),
    ).toEqual([]);
    const needed = imported.filter(({ typeOnly }) => !typeOnly).map(({ from }) => from);
    // The console is built before it is packed: it needs nothing where it is installed.
    expect(undeclared(needed, folder === 'packages/console' ? all : own)).toEqual([]);
  });

  // `npm start` and `npm run cairn` do without devDependencies (scripts/install.mjs).
  test.each(PACKAGES)('the root has what %s needs among its dependencies', (folder) => {
    const { dependencies, devDependencies } = manifest(folder);
    const own = new Set(PACKAGES.map((name) => manifest(name).name));
    // The console is built by `npm start`.
    const needed = folder === 'packages/console' ? devDependencies : dependencies;
    const missing = Object.keys(needed ?? {}).filter((name) => !own.has(name) && !root.dependencies?.[name]);
    expect(missing).toEqual([]);
  });

  test('have one version', () => {
    expect(new Set(PACKAGES.map((name) => manifest(name).version)).size).toBe(1);
  });

  test('the installation is deployed with the very versions that are tested', () => {
    const functions = manifest('functions');
    expect(differingVersions(root, functions)).toEqual([]);
    const { dependencies, peerDependencies, peerDependenciesMeta } = manifest('packages/cairn');
    // A deployment does without optional peers.
    const needed = Object.keys(peerDependencies ?? {}).filter(
      (name) => !peerDependenciesMeta?.[name]?.optional,
    );
    const peers = needed.map((name) => [name, root.dependencies?.[name]]);
    expect(functions.dependencies).toEqual({ ...dependencies, ...Object.fromEntries(peers) });
    const lock = readJson('functions/package-lock.json') as { packages: Record<string, PackageFile> };
    expect(lock.packages['']).toMatchObject({
      dependencies: functions.dependencies,
    });
  });
});

describe('each rule finds what breaks it', () => {
  const file = (path: string, text: string): SourceFile => ({ path, text });

  test('and takes the text of a module that is written somewhere for no import', () => {
    const text = "import { a } from './a.ts';\nconst made = `\nimport { z } from 'zod';\n`;\n";
    expect(importsOf(text).map(({ from }) => from)).toEqual(['./a.ts']);
  });

  test.each([
    ['core', "import { x } from '../ports/clock.ts';", 'core may not import ports'],
    ['core', "import { readFileSync } from 'node:fs';", 'core may not import node:fs'],
    ['ports', "import type { E } from '../engine/deps.ts';", 'ports may not import engine'],
    ['engine', "export * from '../operations/start/start-run.ts';", 'engine may not import operations'],
    ['store', "import '../memory/memory-run-store.ts';", 'store may not import memory'],
    ['api', "import {\n  a,\n  b,\n} from '../store/paths.ts';", 'api may not import store'],
    ['api', "const s = await import('../platform/root.ts');", 'api may not import platform'],
    ['platform', "import { c } from '../../../local/src/cloud.ts';", 'lies outside packages/cairn'],
    ['helpers', '', "'helpers' is no layer"],
  ])('direction: %s with %s', (layer, text, problem) => {
    expect(layering(file(`packages/cairn/src/${layer}/a.ts`, text)).join()).toContain(problem);
  });

  test('state: a variable of a module that changes, outside of platform/', () => {
    const text = 'const a = 1;\nlet b = a;\nfunction f() {\n  let c = 1;\n}\n';
    expect(stateful(file('packages/cairn/src/core/a.ts', text))).toEqual([
      'packages/cairn/src/core/a.ts: let b = a;',
    ]);
    expect(stateful(file('packages/cairn/src/platform/a.ts', text))).toEqual([]);
  });

  test('direction: what is allowed is not found', () => {
    const text =
      "import { a } from './b.ts';\nimport type { Clock } from '../../ports/clock.ts';\nimport { z } from 'zod';";
    expect(layering(file('packages/cairn/src/engine/drive/a.ts', text))).toEqual([]);
    const installation = "import { cairnFunctions } from 'cairn/functions';\nimport { z } from 'zod';";
    expect(layering(file('functions/src/index.ts', installation))).toEqual([]);
  });

  test('direction: the local cloud knows nothing of the engine whose functions it serves', () => {
    expect(layering(file('packages/local/src/host/a.ts', "import { drive } from 'cairn';"))).toHaveLength(1);
    const inside = "import { drive } from '../../../cairn/src/engine/drive/drive.ts';";
    expect(layering(file('packages/local/src/host/a.ts', inside))).toHaveLength(1);
    const kit = "import { drainable } from '@cairn/local-kit/http/drain';";
    expect(layering(file('packages/local/src/host/a.ts', kit))).toEqual([]);
    const http = "import type { Server } from 'node:http';";
    expect(layering(file('packages/local/src/host/a.ts', http))).toEqual([]);
    const server = "import { createServer, type Server } from 'node:http';";
    expect(layering(file('packages/local/src/host/a.ts', server))).toHaveLength(1);
  });

  test('direction: an installation is written with what the package exports', () => {
    const own = (text: string) => layering(file('functions/src/workflows/a.ts', text));
    expect(own("import { drive } from '../../../packages/cairn/src/engine/drive/drive.ts';")).toHaveLength(1);
    expect(own("import { onRequest } from 'firebase-functions/https';")).toHaveLength(1);
    expect(own("import { defineWorkflow } from 'cairn';\nimport '../other.ts';")).toEqual([]);
  });

  test('direction: the command line is a client of the API', () => {
    const command = (text: string) => layering(file('packages/cli/src/api/a.ts', text));
    expect(command("import { PATHS } from 'cairn/api/calls';")).toHaveLength(1);
    expect(command("import type { Wait } from 'cairn';")).toHaveLength(1);
    expect(command("import { z } from 'zod';")).toHaveLength(1);
    const allowed = "import type { PATHS } from 'cairn/api/calls';";
    expect(command(`${allowed}\nimport { parseArgs } from 'node:util';\nimport '../exit.ts';`)).toEqual([]);
  });

  test('direction: the console is a client of the API, and its parts know no page', () => {
    const page = (text: string) => layering(file('packages/console/src/pages/a/b.tsx', text));
    const part = (text: string) => layering(file('packages/console/src/parts/b.tsx', text));
    expect(page("import type { Answer } from 'cairn/api/calls';")).toEqual([]);
    expect(page("import { Answer } from 'cairn/api/calls';")).toHaveLength(1);
    expect(page("import { useState } from 'react';\nimport '../../parts/b.tsx';")).toEqual([]);
    expect(page("import lodash from 'lodash';")).toHaveLength(1);
    expect(part("import { x } from '../pages/a/b.tsx';")).toHaveLength(1);
  });

  test('direction: every layer in the table names layers that exist', () => {
    for (const { layers } of Object.values(LAYERS)) {
      for (const layer of layers) expect(Object.keys(LAYERS)).toContain(layer);
    }
  });

  test.each([
    ['const t = Date.now();', 'Date.now'],
    ['const clock = { now: Date.now };', 'Date.now'],
    ['const t = new Date();', 'new Date()'],
    ['const r = Math.random();', 'Math.random'],
    ["const v = process.env.X ?? '';", 'process.env'],
    ['const { env } = process;', 'process.env'],
    ["console.log('x');", 'console'],
    ['const s = `now: ${Date.now()}`;', 'Date.now'],
    ['const a = b / c; const r = Math.random(); const d = e / f;', 'Math.random'],
    ['enum Colour { Red }', 'syntax'],
    ['setTimeout(f, 1);', 'a timer'],
    [`// ${'TO'}DO: later`, `${'TO'}DO`],
  ])('bans: %s', (text, problem) => {
    expect(banned(file('packages/cairn/src/engine/a.ts', text)).join()).toContain(problem);
  });

  test.each([
    '// Date.now is not used here',
    '/* new Date() */ const a = 1;',
    "const text = 'Math.random and // process.env';",
    'const text = `console.log and any`;',
    'const pattern = /process.env|any[^/]console\\./;',
    'const t = new Date(ms); const company = many;',
    "const a = `${b ? `x ${c}` : 'Date.now'}`;",
  ])('bans: %s is no offence', (text) => {
    expect(banned(file('packages/cairn/src/engine/a.ts', text))).toEqual([]);
  });

  test.each([
    ["process.kill(pid ?? 0, 'SIGKILL');", 1],
    ['globalThis.process.kill(pid);', 1],
    ['expect(await tryGet(ready, path)).toBeDefined();', 1],
    ['expect(\n  await tryGet(ready, path),\n).toBeDefined();', 1],
    ['return (await tryGet(ready, path))!.items;', 1],
    ['return (\n  await tryGet(ready, path)\n)?.items;', 1],
    ['const { items } = (await tryGet(ready, path))\n  ?? { items: [] };', 1],
    ['return (await tryGet(ready, path))?.items;', 1],
    ['const { items } = (await tryGet(ready, path)) ?? { items: [] };', 1],
    ["process.kill(process.pid, 'SIGKILL'); cloud.process.kill('SIGTERM'); process.kill();", 0],
    ['return (await tryGet(ready, path)) !== undefined;', 0],
    ["await eventually('it', () => tryGet(ready, path));", 0],
    ['beforeAll(() => {\n  prepare();\n}, 60_000);', 1],
    ['beforeAll(() => {\n  prepare();\n}, 600_000);', 0],
  ])('chance: %s', (text, problems) => {
    expect(byChance(file('test/system/a.test.ts', text))).toHaveLength(problems);
  });

  test('bans: the platform may', () => {
    expect(
      banned(file('packages/cairn/src/platform/clock.ts', 'const t = Date.now(); setTimeout(f, 1);')),
    ).toEqual([]);
  });

  test('code after a text, a template and a pattern is still read', () => {
    const text = "a('it\\'s'); b(`x${'}'}y${{ z: 1 }}`); c(/[/']/); Date.now();";
    expect(codeOf(text)).toContain('Date.now()');
    expect(codeOf(text)).toHaveLength(text.length);
  });

  test.each(['/** What bodies logged. */', '  /**\n   * Of a segment.\n   */', '  // Who asks.\n  f();'])(
    'subjects: %p has none',
    (comment) => {
      expect(subjectless(file('packages/cairn/src/engine/a.ts', comment))).toHaveLength(1);
    },
  );

  test.each([
    '/** The lines that bodies logged. */',
    '// The one\n// that f takes.',
    '/** Offsets of lines. */',
  ])('subjects: %p has one', (comment) => {
    expect(subjectless(file('packages/cairn/src/engine/a.ts', comment))).toEqual([]);
  });

  test('size, crowding and headers', () => {
    expect(tooLong(file('packages/local/src/a.ts', 'x\n'.repeat(MAX_LINES + 1)))).toHaveLength(1);
    expect(tooLong(file('packages/local/src/a.ts', 'x\n'.repeat(MAX_LINES)))).toEqual([]);
    expect(crowded(['a/1', 'a/2', 'b/1'], 1)).toEqual(['a: 2 files; 1 are allowed']);
    expect(headless(file('packages/local/src/a.ts', "import 'x';"))).toHaveLength(1);
    expect(headless(file('packages/local/src/a.ts', '/** Owns x. */'))).toEqual([]);
  });

  test('rings: of values, not of types', () => {
    const ring = [
      file('a/x.ts', "import { y } from './y.ts';"),
      file('a/y.ts', "import { x } from './x.ts';"),
    ];
    expect(rings(ring)).toEqual(['a/x.ts → a/y.ts → a/x.ts']);
    expect(rings([file('a/x.ts', "import type { y } from './y.ts';"), ...ring.slice(1)])).toEqual([]);
  });

  test('exports: of no other file', () => {
    const [own, shared] = ['export interface Own {}', 'export const shared = 1;'];
    const files = [
      file('packages/a/src/x.ts', `${own}\n${shared}`),
      file('packages/a/src/y.ts', "import { shared } from './x.ts';"),
    ];
    expect(exportedForNobody(files, new Set())).toEqual([
      'packages/a/src/x.ts: no other file uses the export Own',
    ]);
    expect(exportedForNobody(files, new Set(['packages/a/src/x.ts']))).toEqual([]);
  });

  test('packages: another version, a range, one that is missing', () => {
    const root = { dependencies: { a: '1.0.0', b: '1.0.0' } };
    expect(differingVersions(root, { dependencies: { a: '1.0.1', b: '^1.0.0', c: '1.0.0' } })).toHaveLength(
      3,
    );
    expect(differingVersions(root, { dependencies: { a: '1.0.0' } })).toEqual([]);
    expect(
      undeclared(['@a/b/sub', 'node:fs', './x.ts', 'hono/tiny'], { dependencies: { hono: '1.0.0' } }),
    ).toEqual(['@a/b']);
  });

  test.each([
    ['^1.0.0', true],
    ['^1.2.3', true],
    ['^0.9.0', false],
    ['^13.6.0 || ^1.2.0', true],
    ['^1.2.4', false],
    ['^2.0.0', false],
    ['>=1.0.0', false],
    ['1.2.3', false],
  ])('packages: the peer %s is a range with what is tested, 1.2.3: %s', (range, isRange) => {
    const problems = untestedPeers({ dependencies: { a: '1.2.3' } }, { peerDependencies: { a: range } });
    expect(problems).toHaveLength(isRange ? 0 : 1);
  });
});
