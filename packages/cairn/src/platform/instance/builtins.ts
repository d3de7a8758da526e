/**
 * Ends an instance in which a body broke a built-in that all runs use, such as `JSON.stringify` or `Promise.prototype.then`, or added
 * `toJSON` to all objects.
 * Such an instance stays alive and sends heartbeats, but no run on it can end. Its death is recovered like any other, and the
 * step that was under way is dispatched alone.
 */
import { builtinsWork, type HarmfulMember, harmfulMembers } from '../../core/intact.ts';
import type { Log } from '../../ports/log.ts';

/** Time between two checks, ms. A check compares about 400 references, which takes microseconds. */
const CHECK_MS = 1_000;

const prototypeOf = (value: object): object => Object.getPrototypeOf(value);

const HOLDERS: readonly (readonly [name: string, holder: object])[] = [
  ['JSON', JSON],
  ['Object', Object],
  ['Reflect', Reflect],
  ['Promise', Promise],
  ['Promise.prototype', Promise.prototype],
  ['Array', Array],
  ['Array.prototype', Array.prototype],
  ['Array iterator', prototypeOf([][Symbol.iterator]())],
  ['Map.prototype', Map.prototype],
  ['Map iterator', prototypeOf(new Map().entries())],
  ['Set.prototype', Set.prototype],
  ['Set iterator', prototypeOf(new Set().values())],
  ['String.prototype', String.prototype],
];
/** The rest of the global object belongs to the app: packages of monitoring add and replace members of it. */
const GLOBALS = [
  'Promise',
  'Map',
  'Set',
  'Date',
  'Buffer',
  'AbortController',
  'setTimeout',
  'clearTimeout',
  'setImmediate',
  'queueMicrotask',
];

interface Builtin {
  readonly name: string;
  readonly holder: object;
  readonly key: PropertyKey;
  readonly value: unknown;
}

/** The built-ins as they are now. */
function builtins(): readonly Builtin[] {
  const all = HOLDERS.flatMap(([name, holder]) =>
    Reflect.ownKeys(holder).map((key) => ({ name: `${name}[${String(key)}]`, holder, key })),
  );
  const globals = GLOBALS.map((key) => ({ name: key, holder: globalThis, key }));
  return [...all, ...globals, { name: 'process.nextTick', holder: process, key: 'nextTick' }].flatMap(
    (each) => {
      const descriptor = Object.getOwnPropertyDescriptor(each.holder, each.key);
      // Some globals are accessors, such as `Buffer`.
      const isGlobal = each.holder === globalThis;
      const value: unknown = isGlobal ? globalThis[each.key as keyof typeof globalThis] : descriptor?.value;
      return typeof value === 'function' ? [{ ...each, value }] : [];
    },
  );
}

/** Functions that runs need besides those of {@link builtinsWork}. Each replaced one is to give another result. */
function othersWork(): boolean {
  try {
    const text = ' Ab-c ';
    const numbers = [3, 1, 2];
    numbers.push(4);
    const removed = [numbers.pop(), numbers.shift(), ...numbers.splice(0, 1)];
    numbers.unshift(5);
    const abort = new AbortController();
    abort.abort('x');
    const set = new Set(['a']).add('b');
    const map = new Map([['a', 1]]);
    const seen: unknown[] = [];
    const see = (one: unknown) => void seen.push(one);
    numbers.forEach(see);
    map.forEach(see);
    set.forEach(see);
    const results = [
      text.slice(1, 3),
      text.trim().toLowerCase().toUpperCase(),
      text.indexOf('b') + text.lastIndexOf('c'),
      [
        text.includes('-'),
        text.startsWith(' A'),
        text.endsWith('c '),
        'x'.isWellFormed(),
        'x'.toWellFormed(),
      ],
      [text.substring(1, 2), text.at(1), text.charAt(2), text.charCodeAt(1), text.codePointAt(1)],
      [
        text.trimEnd(),
        text.trimStart(),
        'a'.repeat(2),
        'a'.padEnd(2, '.'),
        'aa'.replaceAll('a', 'b'),
        'a'.concat('b'),
      ],
      ['ab'.match(/b/)?.index, 'ab'.search(/b/), [...'ab'.matchAll(/b/g)].length, 'a'.localeCompare('b')],
      removed,
      [
        numbers.find((one) => one > 4),
        numbers.findIndex((one) => one % 2 === 0),
        numbers.indexOf(2),
        numbers.at(-1),
      ],
      [
        numbers.some((one) => one > 4),
        numbers.every((one) => one > 4),
        numbers.includes(2),
        numbers.lastIndexOf(5),
      ],
      [
        numbers.reduce((sum, one) => sum + one, 0),
        [[1]].flat(),
        [1].flatMap((one) => [one, one]),
        [2, 1].toSorted(),
      ],
      [
        new Array(2).fill(7),
        [...[1].entries()],
        [...[1].keys()],
        [...[1].values()],
        [2, 1].findLast((one) => one > 1),
      ],
      [
        Array.from([1]),
        Array.of(1),
        Object.fromEntries([['a', 1]]),
        Object.values({ a: 1 }),
        Object.hasOwn({ a: 1 }, 'a'),
      ],
      [set.has('a'), set.has('z'), set.delete('a'), set.size, map.has('a'), map.delete('z'), map.size],
      [[...set.keys()], [...set.values()], [...set.entries()], [...map.keys()], [...map.values()]],
      [Object.isFrozen(Object.freeze({})), Object.create(null) === undefined, Object.is(0, -0)],
      [Object.getPrototypeOf([]) === Array.prototype, Object.getOwnPropertyNames({ a: 1 })],
      [
        abort.signal.aborted,
        new Date(0).toISOString(),
        Buffer.from('a').toString('hex'),
        Buffer.byteLength('\u00e9'),
      ],
      seen,
    ];
    return JSON.stringify(results) === OTHER_RESULTS;
  } catch {
    return false;
  }
}

const OTHER_RESULTS =
  '["Ab","AB-C",6,[true,true,true,true,"x"],["A","A","b",65,65],[" Ab-c","Ab-c ","aa","a.","bb","ab"],[1,1,1,-1],[4,3,1],[5,1,1,2],[true,false,true,0],[7,[1],[1,1],[1,2]],[[7,7],[[0,1]],[0],[1],2],[[1],[1],{"a":1},[1],true],[true,false,true,1,true,false,1],[["b"],["b"],[["b","b"]],["a"],[1]],[true,false,false],[true,["a"]],[true,"1970-01-01T00:00:00.000Z","61",2],[5,2,1,"a","b"]]';

/** Callbacks that work are called before the next check. */
function startedCallbacks(): () => boolean {
  const called = new Array<boolean>(5).fill(false);
  let isCleared = true;
  const calls = (at: number) => () => {
    called[at] = true;
  };
  try {
    void Promise.resolve().then(calls(0));
    void Promise.all([Promise.race([1])]).finally(calls(1));
    setTimeout(calls(2), 0);
    setImmediate(calls(3));
    const cleared = setTimeout(() => {
      isCleared = false;
    }, 0);
    clearTimeout(cleared);
    process.nextTick(() => queueMicrotask(calls(4)));
  } catch {
    return () => false;
  }
  return () => isCleared && !called.includes(false);
}

/** Call it with the first work of an instance: what the app replaced before belongs to it. */
export function endWhenBroken(log: Log, end: () => void = () => process.exit(1)): void {
  let known = builtins();
  let haveCallbacksWorked: (() => boolean) | undefined;
  const timer = setInterval(() => {
    if (harmfulMembers().length > 0) return broken();
    if (haveCallbacksWorked) {
      if (!haveCallbacksWorked()) return broken();
      haveCallbacksWorked = undefined;
      known = builtins();
    } else if (hasChanged()) {
      if (!(builtinsWork() && othersWork())) return broken();
      haveCallbacksWorked = startedCallbacks();
    }
  }, CHECK_MS).unref();

  function hasChanged(): boolean {
    // Without a call that a body may have replaced.
    for (let at = 0; at < known.length; at += 1) {
      const { holder, key, value } = known[at] as Builtin;
      if ((holder as never)[key] !== value) return true;
    }
    return false;
  }

  function broken(): void {
    clearInterval(timer);
    const names: string[] = [];
    // The log line needs them as they were.
    const added = harmfulMembers();
    for (let at = 0; at < added.length; at += 1) {
      const { name, holder, key } = added[at] as HarmfulMember;
      names[names.length] = name;
      Reflect.deleteProperty(holder, key);
    }
    for (let at = 0; at < known.length; at += 1) {
      const { name, holder, key, value } = known[at] as Builtin;
      if ((holder as never)[key] === value) continue;
      names[names.length] = name;
      Object.defineProperty(holder, key, { value, writable: true, configurable: true });
    }
    log.error('builtins_broken', {
      builtins: names,
      help: 'A step replaced or extended built-ins of JavaScript, and no run could continue in this process. It is ended; its runs are recovered.',
    });
    end();
  }
}
