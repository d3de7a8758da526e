/**
 * The built-ins of JavaScript that runs need, as the app left them. A body may replace one, such as `JSON.stringify` or
 * `Promise.prototype.then`, or add `toJSON` to all objects. Then this process writes nothing more to journals, and the instance
 * ends: otherwise it would stay alive and send heartbeats, but none of its runs could end. The crash is recovered like any other, and
 * the step in progress is dispatched alone.
 */
import { type AddedMember, AddedMembers, builtinsWork } from '../../core/intact.ts';
import type { Log } from '../../ports/log.ts';
import { exit } from './exit.ts';

/** Time between two checks, ms. A check compares about 500 references, which takes microseconds. */
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
  ['RegExp.prototype', RegExp.prototype],
  ['Function.prototype', Function.prototype],
  ['WeakMap.prototype', WeakMap.prototype],
  ['Math', Math],
  ['Number', Number],
  ['Date', Date],
  ['Buffer', Buffer],
];
/** Other members of the global object belong to the app: monitoring packages add and replace them. */
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

/** The current built-ins. */
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

/** Callbacks that must all be called before the next check. */
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

/** The built-ins at one time. Compares and restores without calling functions that a body may have replaced. */
class References {
  #all = builtins();

  adopt(): void {
    this.#all = builtins();
  }

  haveChanged(): boolean {
    const all = this.#all;
    for (let at = 0; at < all.length; at += 1) {
      const { holder, key, value } = all[at] as Builtin;
      if ((holder as never)[key] !== value) return true;
    }
    return false;
  }

  /** Returns the names of the changed ones. */
  restore(): readonly string[] {
    const names: string[] = [];
    for (let at = 0; at < this.#all.length; at += 1) {
      const { name, holder, key, value } = this.#all[at] as Builtin;
      if ((holder as never)[key] === value) continue;
      names[names.length] = name;
      Object.defineProperty(holder, key, { value, writable: true, configurable: true });
    }
    return names;
  }
}

/** The built-ins of this process, from its first work on. */
class Language {
  readonly added = new AddedMembers();
  /** When everything worked, including callbacks. */
  readonly working = new References();
  /** When their results were correct. */
  readonly #checked = new References();

  assertIntact(): void {
    const member = this.added.harmful()[0];
    if (member === undefined) {
      if (!this.#checked.haveChanged()) return;
      if (builtinsWork()) {
        this.#checked.adopt();
        return;
      }
    }
    const what = member ? `added ${member.name}` : 'replaced built-ins of JavaScript';
    throw new Error(`a step ${what}, and nothing that this process writes can be trusted`);
  }
}

let language: Language | undefined;
/** Ends this instance; undefined unless {@link endWhenBroken} was called. */
let endInstance: (() => void) | undefined;

function ofThisProcess(): Language {
  language ??= new Language();
  return language;
}

/**
 * Takes a few microseconds and allocates nothing. Called before each write to a journal. The instance ends here and not at the next check:
 * until then the dispatch would get a response, its run would not count as one whose worker died, and its body would be repeated forever.
 *
 * @throws Error if this process would write wrong data
 */
export function assertIntact(): void {
  try {
    ofThisProcess().assertIntact();
  } catch (error) {
    endInstance?.();
    throw error;
  }
}

/** Must be called with the first work of an instance: earlier replacements and additions belong to the app. */
export function endWhenBroken(log: Log, end: () => void = () => exit(1)): void {
  const { added, working } = ofThisProcess();
  let haveCallbacksWorked: (() => boolean) | undefined;
  const timer = setInterval(() => {
    if (added.harmful().length > 0) return broken();
    if (haveCallbacksWorked) {
      if (!haveCallbacksWorked()) return broken();
      haveCallbacksWorked = undefined;
      working.adopt();
    } else if (working.haveChanged()) {
      if (!builtinsWork()) return broken();
      haveCallbacksWorked = startedCallbacks();
    }
  }, CHECK_MS).unref();

  endInstance = broken;

  function broken(): void {
    clearInterval(timer);
    endInstance = undefined;
    const names: string[] = [];
    // Logging needs the original members.
    const members = added.harmful();
    for (let at = 0; at < members.length; at += 1) {
      const { name, holder, key } = members[at] as AddedMember;
      names[names.length] = name;
      Reflect.deleteProperty(holder, key);
    }
    const restored = working.restore();
    log.error('builtins_broken', {
      builtins: [...names, ...restored],
      help: 'A step replaced or extended built-ins of JavaScript, and no run could continue in this process. It is ended; its runs are recovered.',
    });
    end();
  }
}
