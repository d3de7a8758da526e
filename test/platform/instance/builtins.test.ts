import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

/** Changes by bodies to built-ins that all runs of a process use. */
const BREAKS = [
  "JSON.stringify = () => '{}'",
  'JSON.stringify = () => { throw new Error() }',
  'JSON.parse = () => ({})',
  'Promise.prototype.then = function () { return this }',
  'Promise.prototype.finally = function () { return this }',
  'Promise.all = () => new Promise(() => {})',
  'Promise.race = () => new Promise(() => {})',
  'globalThis.Promise = class {}',
  'globalThis.Map = class {}',
  'Array.prototype[Symbol.iterator] = function* () {}',
  'Object.getPrototypeOf([][Symbol.iterator]()).next = () => ({ done: true })',
  'Object.getPrototypeOf(new Map().entries()).next = () => ({ done: true })',
  'Array.prototype.map = () => []',
  'Array.prototype.filter = function () { return this }',
  'Array.prototype.slice = () => undefined',
  'Map.prototype.get = () => undefined',
  'Object.entries = () => []',
  'Object.freeze = () => undefined',
  "String.prototype.split = () => ['']",
  "globalThis.setTimeout = () => { throw new Error('no timers') }",
  'globalThis.setTimeout = () => 0',
  'globalThis.setImmediate = () => 0',
  'globalThis.queueMicrotask = () => {}',
  'process.nextTick = () => {}',
  "Object.prototype.toJSON = () => 'x'",
  "Array.prototype.toJSON = () => 'x'",
  'Object.prototype.then = () => {}',
  'Object.prototype.get = () => 1',
  "Object.defineProperty(Object.prototype, 'status', { get: () => 'x', set() {}, configurable: true })",
  "Object.defineProperty(Object.prototype, 'status', { set() { throw new Error() }, configurable: true })",
  "Object.defineProperty(Object.prototype, 'status', { value: 'x', configurable: true })",
  'Object.prototype.suspect = { alone: true }',
  'Math.max = () => NaN',
  'Math.floor = () => NaN',
  'RegExp.prototype.exec = () => null',
  'RegExp.prototype.test = () => false',
  'Function.prototype.bind = () => () => {}',
  'WeakMap.prototype.get = () => undefined',
  'Buffer.from = () => Buffer.alloc(0)',
] as const;

/** Functions that every run needs. */
const NEEDED = {
  'String.prototype':
    'slice,trim,toLowerCase,indexOf,includes,startsWith,endsWith,isWellFormed,split,replaceAll,match,charCodeAt,padStart',
  'Array.prototype':
    'push,pop,shift,unshift,splice,slice,map,filter,find,findIndex,some,every,includes,indexOf,forEach,reduce,flat,flatMap,at,join',
  'Map.prototype': 'get,set,has,delete,forEach,keys,values,entries',
  'Set.prototype': 'add,has,delete,forEach,keys,values',
  Object: 'keys,values,entries,fromEntries,assign,freeze,hasOwn,getPrototypeOf',
  Array: 'from,isArray',
  'RegExp.prototype': 'exec,test',
  'Function.prototype': 'call,apply,bind',
  'WeakMap.prototype': 'get,set,has,delete',
  Math: 'max,min,floor,ceil,round,abs,imul',
  Number: 'isSafeInteger,isInteger,isFinite,isNaN,parseInt',
  Date: 'parse,UTC',
  Buffer: 'from,concat,alloc,allocUnsafe,byteLength',
};
const GONE = ['AbortController', 'Date', 'Buffer', 'Map', 'Set', 'Promise', 'setTimeout', 'clearTimeout'];
const TAKEN = [
  ...Object.entries(NEEDED).flatMap(([holder, names]) =>
    names.split(',').map((name) => `${holder}.${name} = () => undefined`),
  ),
  ...GONE.map((name) => `globalThis.${name} = undefined`),
];

/** Changes that no run notices, mostly made by monitoring packages. */
const WRAPS = [
  'const old = JSON.stringify; JSON.stringify = function (...given) { return old.apply(this, given) }',
  'const old = Promise.prototype.then; Promise.prototype.then = function (...given) { return old.apply(this, given) }',
  'const old = setTimeout; globalThis.setTimeout = (...given) => old(...given)',
  'const old = process.nextTick; process.nextTick = function (...given) { return old.apply(this, given) }',
  'globalThis.Promise = class extends Promise {}',
  'Array.prototype.last = function () { return this.at(-1) }',
  'Array.prototype.copyWithin = () => { throw new Error() }',
  'Math.random = () => 0.5',
  'const old = Math.floor; Math.floor = (given) => old(given)',
  'const old = RegExp.prototype.exec; RegExp.prototype.exec = function (given) { return old.call(this, given) }',
  'Date.now = () => 0',
  'Object.prototype.last = () => undefined',
  "Object.defineProperty(Object.prototype, 'tap', { value: () => 1, configurable: true })",
  // Like the package `should`.
  "Object.defineProperty(Object.prototype, 'should', { configurable: true, get: () => 1, set(value) { define(this, 'should', { value }) } })",
] as const;

/** Runs each change in a process: the changes that ended it, and the built-ins that the log names, in order. */
function inInstances(actions: readonly string[]) {
  const script = `
    import { assertIntact, endWhenBroken } from './packages/cairn/src/platform/instance/builtins.ts';
    const turns = setImmediate, write = process.stdout.write.bind(process.stdout), text = JSON.stringify, every = setInterval;
    const builtins = (holder) => Reflect.ownKeys(holder).map((key) => [holder, key, Object.getOwnPropertyDescriptor(holder, key)]);
    const all = [JSON, Object, Promise, Promise.prototype, Array.prototype, Map.prototype, String.prototype, globalThis, process,
      RegExp.prototype, Function.prototype, WeakMap.prototype, Math, Number, Date, Buffer,
      Object.getPrototypeOf([][Symbol.iterator]()), Object.getPrototypeOf(new Map().entries())].flatMap(builtins)
      .filter(([, , one]) => one.configurable && typeof one.value === 'function');
    globalThis.define = Object.defineProperty;
    const count = Reflect.ownKeys(Object.prototype).length;
    function restore() {
      for (const key of Reflect.ownKeys(Object.prototype).slice(count)) delete Object.prototype[key]; for (let at = 0; at < all.length; at += 1) define(all[at][0], all[at][1], all[at][2]); }
    function run(at, actions) {
      if (at === actions.length) return;
      let check, ended = 'alive', names = null;
      globalThis.setInterval = (given) => { check = given; return { unref() { return this } } };
      globalThis.clearInterval = () => {};
      endWhenBroken({ error: (event, fields) => { names = fields.builtins } }, () => { ended = 'ended' });
      globalThis.setInterval = every;
      new Function(actions[at])();
      let writes = true;
      try { assertIntact(); } catch { writes = false; }
      check();
      let left = 20;
      const later = () => {
        if ((left -= 1) > 0) return turns(later);
        if (ended === 'alive') check();
        restore();
        write(text([ended, names, writes]) + '\\n');
        run(at + 1, actions);
      };
      // One turn of the event loop is shorter than the timer of a millisecond.
      const until = performance.now() + 3;
      while (performance.now() < until);
      turns(later);
    }
    run(0, ${JSON.stringify(actions)});`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: join(import.meta.dirname, '../../..'),
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as readonly ['alive' | 'ended', readonly string[] | null, boolean]);
}

/** Functions that call back later are not checked before a write. */
const CALLS_BACK = /Promise|setTimeout|setImmediate|queueMicrotask|nextTick|clearTimeout/;
const writeWrongly = (actions: readonly string[], ends: ReturnType<typeof inInstances>) =>
  actions.filter((action, at) => ends[at]?.[2] && !CALLS_BACK.test(action));

test('an instance ends when a body has broken a built-in of JavaScript, and the log names the built-in', () => {
  const ends = inInstances(BREAKS);
  expect(BREAKS.filter((_, at) => ends[at]?.[0] !== 'ended')).toEqual([]);
  expect(ends.map(([, names]) => names?.length)).toEqual(BREAKS.map(() => 1));
  expect(writeWrongly(BREAKS, ends)).toEqual([]);
});

test('an instance ends when any function that runs need returns nothing', () => {
  const ends = inInstances(TAKEN);
  expect(TAKEN.filter((_, at) => ends[at]?.[0] !== 'ended')).toEqual([]);
  expect(writeWrongly(TAKEN, ends)).toEqual([]);
});

test('an instance stays alive when built-ins are wrapped, extended, or changed where no run needs them', () => {
  expect(inInstances(WRAPS)).toEqual(WRAPS.map(() => ['alive', null, true]));
});

test('an instance ends even if the body has replaced `process.exit`', () => {
  const script = `
    import { endWhenBroken } from './packages/cairn/src/platform/instance/builtins.ts';
    let check;
    globalThis.setInterval = (given) => { check = given; return { unref() { return this } } };
    endWhenBroken({ error() {} });
    process.exit = () => {};
    JSON.stringify = () => '{}';
    check();
    console.log('alive');`;
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: join(import.meta.dirname, '../../..'),
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([1, '']);
});

test.each([
  "JSON.stringify = () => '{}'",
  'Object.prototype.code = 5',
  "Object.prototype.toJSON = () => 'x'",
])('an instance ends before the refused write can be answered: %s', (breaks) => {
  const script = `
      import { assertIntact, endWhenBroken } from './packages/cairn/src/platform/instance/builtins.ts';
      endWhenBroken({ error: (event) => { process.stdout.write(event) } });
      ${breaks};
      try { assertIntact(); } catch {}
      process.stdout.write(' answered');
      process.exit(0);`;
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: join(import.meta.dirname, '../../..'),
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([1, 'builtins_broken']);
});

test.each([
  "define(Object.prototype, 'tap', { value: () => 1 })",
  "define(Object.prototype, 'status', { value: 'x' })",
  "define(String.prototype, 'toJSON', { value() { return String(this) } })",
  'const old = JSON.stringify; JSON.stringify = function (...given) { return old.apply(this, given) }',
])('what a package does before the first work of the process belongs to the app: %s', (action) => {
  const script = `
    import { assertIntact, endWhenBroken } from './packages/cairn/src/platform/instance/builtins.ts';
    const define = Object.defineProperty;
    ${action};
    let check, ended = 'alive';
    globalThis.setInterval = (given) => { check = given; return { unref() { return this } } };
    endWhenBroken({ error() {} }, () => { ended = 'ended' });
    assertIntact();
    check();
    console.log(ended);`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: join(import.meta.dirname, '../../..'),
    encoding: 'utf8',
  });
  expect([stdout, stderr]).toEqual(['alive\n', '']);
});
