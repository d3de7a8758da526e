// `npm run pack [-- folder]`: builds every package for publication, and packs each into a tarball (build/packages, or the
// folder). In the repository, packages are imported as sources; published packages have JavaScript and types. The last line is
// JSON with the tarball of each package; that of a kit is in a separate folder, because it is not installed beside the others.
// With `--staged folder` it only writes the packages, without the console and the kit, into folders there, for tests, which have
// no built console and need no npm.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stageKit } from './pack-kit.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const isStagedOnly = process.argv[2] === '--staged';
const work = isStagedOnly ? resolve(process.argv[3]) : join(root, 'build');
const compiled = join(work, 'compiled');
const staged = join(work, 'staged');
const packed = resolve(root, (!isStagedOnly && process.argv[2]) || 'build/packages');
/** The function kit, which is a bundle like a deployment. */
const KIT = 'calls';
/** Types of the engine that the client includes, by their import names. */
const TOLD = {
  'cairn/api/calls': 'api/openapi/calls',
  'cairn/api/events': 'api/openapi/events',
  'cairn/journal-events': 'core/run/events',
};
const names = readdirSync(join(root, 'packages')).filter(
  (name) => !isStagedOnly || (name !== 'console' && name !== KIT),
);

for (const folder of [compiled, staged]) rmSync(folder, { recursive: true, force: true });
compile();
if (isStagedOnly) {
  for (const name of names) await stage(name);
  process.exit(0);
}
rmSync(packed, { recursive: true, force: true });
mkdirSync(join(packed, 'kits'), { recursive: true });
const tarballs = {};
const kits = {};
for (const name of names) {
  const manifest = await stage(name);
  if (name === KIT) kits[manifest.name] = pack(name, join(packed, 'kits'));
  else tarballs[manifest.name] = pack(name, packed);
}
console.log(JSON.stringify({ tarballs, kits }));

/** Compiles all packages except the console in one call, because they import each other. */
function compile() {
  const config = join(work, 'tsconfig.json');
  const include = names
    .filter((name) => name !== 'console')
    .map((name) => join(root, 'packages', name, 'src'));
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    rootDir: join(root, 'packages'),
    outDir: compiled,
    allowImportingTsExtensions: false,
    rewriteRelativeImportExtensions: true,
    typeRoots: [join(root, 'node_modules/@types')],
    // Tests need only the output; `npm run types` checks the sources.
    ...(isStagedOnly && { noCheck: true }),
  };
  mkdirSync(work, { recursive: true });
  writeFileSync(
    config,
    JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include, exclude: [] }),
  );
  run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', config]);
}

/** Writes the folder to be published. Returns its manifest. */
async function stage(name) {
  const source = join(root, 'packages', name);
  const target = join(staged, name);
  mkdirSync(target, { recursive: true });
  const { devDependencies: _, ...manifest } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const kit = name === KIT ? await stageKit({ name, types: join(compiled, name, 'src'), target }) : undefined;
  if (name === 'console') copyConsole(target);
  else if (kit === undefined) {
    cpSync(join(compiled, name, 'src'), join(target, 'lib'), { recursive: true });
    nameCompiledFiles(join(target, 'lib'));
    copyOthers(join(source, 'src'), join(target, 'lib'));
    if (name === 'client') bringTypes(join(target, 'lib'));
  }
  // The function `api` serves the console, and a functions folder is deployed without Cairn's other packages.
  if (name === 'cairn' || name === KIT) copyConsole(join(target, 'console'));
  for (const file of ['README.md', 'FIDELITY.md'])
    if (existsSync(join(source, file))) cpSync(join(source, file), join(target, file));
  cpSync(join(root, 'LICENSE'), join(target, 'LICENSE'));
  const published = kit ?? {
    ...manifest,
    ...dependenciesOf(manifest),
    ...(manifest.bin && { bin: mapped(manifest.bin, (file) => built(file, 'js')) }),
    exports: mapped(manifest.exports, exported),
  };
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
  return published;
}

/**
 * Cairn's packages are peers of each other, because a project installs all their tarballs. If they were dependencies, pnpm and
 * Yarn would request them from the registry, where `cairn` is another project.
 */
function dependenciesOf({ dependencies = {}, peerDependencies = {} }) {
  const isOwn = ([name]) => name === 'cairn' || name.startsWith('@cairn/');
  const all = Object.entries(dependencies);
  return {
    dependencies: Object.fromEntries(all.filter((one) => !isOwn(one))),
    peerDependencies: { ...peerDependencies, ...Object.fromEntries(all.filter(isOwn)) },
  };
}

function copyConsole(target) {
  const source = join(root, 'packages/console');
  for (const part of ['dist', 'hosting.json'])
    cpSync(join(source, part), join(target, part), { recursive: true });
}

function exported(file) {
  return file.endsWith('.ts') ? { types: built(file, 'd.ts'), default: built(file, 'js') } : file;
}

function built(file, extension) {
  return file.replace(/^\.\/src\//, './lib/').replace(/\.ts$/, `.${extension}`);
}

/** Replaces the file names of modules that are started by URL as the main of a process. */
function nameCompiledFiles(folder) {
  for (const file of filesIn(folder, '.js')) {
    const text = readFileSync(file, 'utf8');
    const named = text.replace(/(new URL\('\.[^']*)\.ts('\s*,\s*import\.meta\.url\))/g, '$1.js$2');
    if (named !== text) writeFileSync(file, named);
  }
}

/**
 * Copies the engine's types of the API routes into the client, so that its users need not install the engine and Google's
 * libraries.
 */
function bringTypes(lib) {
  const engine = join(compiled, 'cairn/src');
  const types = join(lib, 'engine');
  const pending = Object.values(TOLD).map((file) => join(engine, `${file}.d.ts`));
  const seen = new Set(pending);
  for (const file of pending) {
    const text = readFileSync(file, 'utf8');
    for (const [, from] of text.matchAll(/(?:from |import\()['"](\.[^'"]*)['"]/g)) {
      const other = join(dirname(file), from.replace(/\.[jt]s$/, '.d.ts'));
      if (!seen.has(other)) pending.push(other);
      seen.add(other);
    }
    const target = join(types, file.slice(engine.length));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
  for (const file of filesIn(lib, '.d.ts')) {
    if (file.startsWith(types)) continue;
    const above = relative(dirname(file), lib) || '.';
    let text = readFileSync(file, 'utf8');
    for (const [door, told] of Object.entries(TOLD))
      text = text.replaceAll(`'${door}'`, `'${above}/engine/${told}.js'`);
    writeFileSync(file, text);
  }
}

/** Copies files other than TypeScript, such as a preload or a page. */
function copyOthers(from, to) {
  for (const file of filesIn(from, ''))
    if (!/\.tsx?$/.test(file)) cpSync(file, join(to, file.slice(from.length)));
}

function filesIn(folder, extension) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(extension))
    .map(({ parentPath, name }) => join(parentPath, name));
}

function pack(name, to) {
  const { stdout } = run('npm', ['pack', '--json', '--pack-destination', to, join(staged, name)], 'pipe');
  return join(to, JSON.parse(stdout)[0].filename);
}

function mapped(members, change) {
  return Object.fromEntries(Object.entries(members).map(([key, value]) => [key, change(value)]));
}

function run(command, args, stdout = 'inherit') {
  const ended = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', stdout, 'inherit'],
    encoding: 'utf8',
  });
  if (ended.status !== 0) process.exit(ended.status ?? 1);
  return ended;
}
