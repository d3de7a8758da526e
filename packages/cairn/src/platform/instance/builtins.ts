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
const GLOBALS = ['Promise', 'Map', 'Set', 'setTimeout', 'clearTimeout', 'setImmediate', 'queueMicrotask'];

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
      const value = descriptor && 'value' in descriptor ? descriptor.value : undefined;
      return typeof value === 'function' ? [{ ...each, value }] : [];
    },
  );
}

/** Callbacks that work are called before the next check. */
function startedCallbacks(): () => boolean {
  const called = new Array<boolean>(5).fill(false);
  const calls = (at: number) => () => {
    called[at] = true;
  };
  try {
    void Promise.resolve().then(calls(0));
    void Promise.all([Promise.race([1])]).finally(calls(1));
    setTimeout(calls(2), 0);
    setImmediate(calls(3));
    process.nextTick(() => queueMicrotask(calls(4)));
  } catch {
    return () => false;
  }
  return () => !called.includes(false);
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
    } else if (changed().length > 0) {
      if (!builtinsWork()) return broken();
      haveCallbacksWorked = startedCallbacks();
    }
  }, CHECK_MS).unref();

  const changed = () => known.filter(({ holder, key, value }) => (holder as never)[key] !== value);

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
