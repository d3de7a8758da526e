// Jest runtime: the test files of a worker share stateless modules, which are loaded once. A test file imports about a thousand
// modules of the engine, and loading them took as long as the tests. Shared are installed packages and the layers of the engine
// without state (test/architecture.test.ts). Tests, `platform/` and the mains are loaded anew for each file.
const { join, sep } = require('node:path');
const { fileURLToPath } = require('node:url');
const { default: Runtime } = require('jest-runtime');
const { leanExpect } = require('./lean-expect.cjs');

const root = join(__dirname, '../..');
const under = (file, folder) => file.startsWith(join(root, folder) + sep);

const SHARED = [
  'node_modules',
  'packages/cairn/src',
  'packages/local-firestore/src',
  'packages/local-kit/src',
  'packages/local-pubsub/src',
  'packages/local-tasks/src',
];
/** Packages that keep apps, options or settings in their modules. */
const STATEFUL = [
  'node_modules/@firebase',
  'node_modules/@google-cloud/functions-framework',
  'node_modules/firebase-admin',
  'node_modules/firebase-functions',
  'packages/cairn/src/platform',
];
/** The entries of the package cairn re-export `platform/` too. */
const ENTRY = /\/packages\/cairn\/src\/[^/]+\.ts$/;
const SEEDED = join(root, 'scripts/seeded-fast-check.mjs');
/** Parts of Jest that keep the tests and matchers of a file. */
const PER_TEST_FILE = /\/node_modules\/(@jest\/expect|expect|jest-circus|jest-snapshot)\//;

function isShared(file) {
  if (file === SEEDED) return true;
  return (
    SHARED.some((folder) => under(file, folder)) &&
    !STATEFUL.some((folder) => under(file, folder)) &&
    !ENTRY.test(file)
  );
}

/** Loads the shared modules; lives as long as the worker. */
let shared;

class SharedRuntime extends Runtime {
  constructor(...args) {
    super(...args);
    keepModulesIn(this, {
      esModuleRegistry: new OnlyShared(fileURLToPath),
      moduleRegistry: new OnlyShared(),
    });
  }
}

class TestRuntime extends Runtime {
  constructor(...args) {
    super(...args);
    const { watch, watchAll } = args.at(-1);
    // In watch mode, changed files are loaded again.
    if (shared === undefined || watch || watchAll) shared = new SharedRuntime(...args);
    keepModulesIn(this, {
      esModuleRegistry: new EsModules(),
      moduleRegistry: new Modules(),
      internalModuleRegistry: new InternalModules(),
    });
    compileOnce(this.executor);
    this.tests = args[1].global;
  }

  setGlobalsForRuntime(globals) {
    super.setGlobalsForRuntime({ ...globals, expect: leanExpect(globals.expect, this.tests) });
  }
}

/** @throws Error if Jest no longer stores its modules there */
function keepModulesIn({ registries }, maps) {
  for (const [name, map] of Object.entries(maps)) {
    if (!(registries?.[name] instanceof Map)) throw new Error(`jest-runtime has no ${name} any more`);
    registries[name] = map;
  }
}

/** Compiled functions, by path, of installed CommonJS modules that each file runs for itself. */
const compiled = new Map();
/** Executors of the running file, and of the first file, which compiles for all. */
let executor;
let compiler;

/**
 * Reuses code that was compiled for earlier files, which is possible because they share a context.
 *
 * @throws Error if Jest no longer compiles there
 */
function compileOnce(own) {
  const { compile } = own ?? {};
  if (typeof compile !== 'function') throw new Error('jest-runtime has no executor that compiles any more');
  executor = own;
  compiler ??= Object.create(own, {
    dynamicImport: { value: (...args) => executor.dynamicImport(...args) },
  });
  own.compile = (source, file) => {
    if (!under(file, 'node_modules')) return compile.call(own, source, file);
    const known = compiled.get(file);
    if (known?.source === source) return known.run;
    const run = compile.call(compiler, source, file);
    compiled.set(file, { source, run });
    return run;
  };
}

/** Refuses that a shared module loads a module of a single file, because the next file would get it too. */
class OnlyShared extends Map {
  constructor(fileOf = (key) => key) {
    super();
    this.fileOf = (key) => (key.startsWith('file:') || key.startsWith(sep) ? fileOf(key) : undefined);
  }

  set(key, module) {
    const file = this.fileOf(key);
    if (file !== undefined && !isShared(file))
      throw new Error(
        `a module that test files share imports ${file}, which they do not (scripts/jest/runtime.cjs)`,
      );
    return super.set(key, module);
  }
}

/** The modules of one file, by key; shared ones come from `shared` on first use. */
class OwnOrShared extends Map {
  get(key) {
    return super.get(key) ?? this.findShared(key);
  }

  has(key) {
    return this.get(key) !== undefined;
  }
}

class EsModules extends OwnOrShared {
  findShared(key) {
    if (!key.startsWith('file:') || key.includes('?')) return undefined;
    const file = fileURLToPath(key);
    if (!isShared(file) || !shared.unstable_shouldLoadAsEsm(file)) return undefined;
    const loaded = shared.registries.esModuleRegistry;
    if (!loaded.has(key)) shared.requireModule(file, file);
    return loaded.get(key);
  }
}

class Modules extends OwnOrShared {
  findShared(file) {
    if (!isShared(file)) return undefined;
    const loaded = shared.registries.moduleRegistry;
    if (!loaded.has(file)) shared.requireModule(file, file);
    return loaded.get(file);
  }
}

class InternalModules extends OwnOrShared {
  findShared(file) {
    if (PER_TEST_FILE.test(file)) return undefined;
    const loaded = shared.registries.internalModuleRegistry;
    if (!loaded.has(file)) shared.requireInternalModule(file, file);
    return loaded.get(file);
  }
}

module.exports = TestRuntime;
