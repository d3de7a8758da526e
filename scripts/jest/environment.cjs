// Jest environment: the files of a worker run one after the other in one plain V8 context. Jest's own environment makes each use
// of `Math`, `Map` or `Error` about thirty times slower, because its globals go through a contextified object. The files share
// the context so that they can share modules (runtime.cjs). At the end of a file, its changes of globals, of `process` and of the
// environment are undone, and its temporary files are deleted.
const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const vm = require('node:vm');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');
const { installCommonGlobals } = require('jest-util');

/** Classes of values that Node creates and tests compare with their own. */
const FROM_NODE = ['ArrayBuffer', 'Buffer', 'Uint8Array'];
/** Frames in the stack of a failure; Node's 10 end inside Jest. */
const STACK_FRAMES = 100;

const context = vm.createContext(vm.constants.DONT_CONTEXTIFY);
for (const name of Object.getOwnPropertyNames(globalThis)) {
  const given = Object.getOwnPropertyDescriptor(globalThis, name);
  if (!Object.hasOwn(context, name)) Object.defineProperty(context, name, lent(name, given));
}
for (const name of FROM_NODE) context[name] = globalThis[name];
context.global = context;
// Defines a copy of `process` too.
installCommonGlobals(context, {}, 'off');
context.Error.stackTraceLimit = STACK_FRAMES;
/** Node's function, which formats the errors of all contexts. */
const { prepareStackTrace } = Error;
const temporary = tmpdir();
const restorers = [context, context.process, context.process.env, context.Error].map(restorerOf);

class TestEnvironment {
  global = context;
  moduleMocker = new ModuleMocker(context);
  /** Legacy fake timers, which no test uses. */
  fakeTimers = null;

  constructor({ projectConfig: config }) {
    this.fakeTimersModern = new ModernFakeTimers({ config, global: context });
    this.folder = mkdtempSync(join(temporary, 'cairn-'));
    // `tmpdir` reads the variable of the worker; processes started by tests get that of the context.
    process.env.TMPDIR = context.process.env.TMPDIR = this.folder;
  }

  async setup() {
    // Replaces Jest's function, which searches for source maps. The code has none, because types are replaced by blanks, and
    // tests read thousands of stacks.
    Error.prepareStackTrace = prepareStackTrace;
  }

  async teardown() {
    this.fakeTimersModern.dispose();
    for (const restore of restorers) restore();
    context.process.removeAllListeners();
    process.env.TMPDIR = temporary;
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  getVmContext() {
    return context;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }
}

/** Descriptor of a Node global for the context. Node creates some on first read, and so does the context. */
function lent(name, { get, enumerable, configurable, value }) {
  if (get === undefined) return { value, enumerable, configurable, writable: true };
  const set = (replaced) =>
    Object.defineProperty(context, name, { value: replaced, enumerable, configurable: true, writable: true });
  return { get: () => globalThis[name], set, enumerable, configurable: true };
}

/** Returns a function that restores the current properties of the object. */
function restorerOf(object) {
  const first = new Map(
    Reflect.ownKeys(object).map((key) => [key, Object.getOwnPropertyDescriptor(object, key)]),
  );
  return () => {
    for (const key of Reflect.ownKeys(object)) if (!first.has(key)) Reflect.deleteProperty(object, key);
    for (const [key, descriptor] of first) {
      const now = Object.getOwnPropertyDescriptor(object, key);
      if (now?.value !== descriptor.value || now?.get !== descriptor.get)
        Reflect.defineProperty(object, key, descriptor);
    }
  };
}

module.exports = TestEnvironment;
