/**
 * Detects changes by bodies to built-ins and prototypes that break all runs of this process: replacements that return wrong
 * results, and added members. Then JSON text changes, awaited objects never resolve, or assigned members are lost.
 *
 * Must not: report harmless changes of packages, such as a wrapped `JSON.stringify`, `should`, or `Array.prototype.last`; or call
 * a replaceable built-in except to check its result.
 */
import { MEMBER_NAMES } from './member-names.ts';

const { ownKeys, getOwnPropertyDescriptor } = Reflect;

export interface AddedMember {
  /** Such as `Object.prototype.toJSON`. */
  readonly name: string;
  readonly holder: object;
  readonly key: PropertyKey;
}

/** Members that JavaScript reads from every value. */
const ASKED_OF_ALL: readonly AddedMember[] = [
  { name: 'Object.prototype', holder: Object.prototype },
  { name: 'Array.prototype', holder: Array.prototype },
  { name: 'String.prototype', holder: String.prototype },
  { name: 'Number.prototype', holder: Number.prototype },
  { name: 'Boolean.prototype', holder: Boolean.prototype },
].flatMap(({ name, holder }) => ['toJSON', 'then'].map((key) => ({ name: `${name}.${key}`, holder, key })));
/** Members of property descriptors and of results of iterators. */
const ASKED_OF_PLAIN = ['get', 'set', 'value', 'writable', 'enumerable', 'configurable', 'done'];
/** If `Object.prototype` gets one of these members, every object seems to have it, and assignments to it may be lost. */
const asked: ReadonlySet<PropertyKey> = new Set([...ASKED_OF_PLAIN, ...MEMBER_NAMES]);
const isAsked = asked.has.bind(asked);

/** Finds harmful members that were added after its creation. Earlier ones belong to the app. */
export class AddedMembers {
  readonly #askedOfAll = ASKED_OF_ALL.filter(({ holder, key }) => !getOwnPropertyDescriptor(holder, key));
  readonly #known = new Set<PropertyKey>(ownKeys(Object.prototype));
  readonly #knownCount = this.#known.size;
  readonly #isKnown = this.#known.has.bind(this.#known);

  /** Takes less than a microsecond if there are none. */
  harmful(): readonly AddedMember[] {
    const found: AddedMember[] = [];
    for (let at = 0; at < this.#askedOfAll.length; at += 1) {
      const member = this.#askedOfAll[at] as AddedMember;
      if (getOwnPropertyDescriptor(member.holder, member.key)) found[found.length] = member;
    }
    const keys = ownKeys(Object.prototype);
    if (keys.length === this.#knownCount) return found;
    for (let at = 0; at < keys.length; at += 1) {
      const key = keys[at] as PropertyKey;
      if (this.#isKnown(key) || !isAsked(key)) continue;
      found[found.length] = { name: `Object.prototype.${String(key)}`, holder: Object.prototype, key };
    }
    return found;
  }
}

/**
 * False if a built-in that runs need returns a wrong result. Monitoring packages replace built-ins by functions that still work.
 * Takes tens of microseconds; does not check asynchronous callbacks.
 */
export function builtinsWork(): boolean {
  return jsonWorks() && othersWork();
}

function jsonWorks(): boolean {
  try {
    const text = JSON.stringify({ a: [1, 'x', null, { b: true }], c: undefined });
    const parsed = JSON.parse(text);
    const map = new Map(Object.entries(parsed)).set('d', new Set([3, 4]));
    const [first, ...others] = [...map.entries()];
    const numbers = [...(map.get('d') as Set<number>)].map((each) => each * 2).filter((each) => each > 6);
    const copy = Object.assign(Object.freeze({ ...parsed }) && {}, {
      n: numbers.concat([1]).slice().join('-'),
    });
    const keys = Object.keys({ b: 1, a: 2 }).sort();
    const words = 'a b'.split(' ').reverse().join().padStart(5, '.').replace('b', 'c');
    return (
      Array.isArray(keys) &&
      keys[0] === 'a' &&
      text === '{"a":[1,"x",null,{"b":true}]}' &&
      first?.[0] === 'a' &&
      others.length === 1 &&
      Reflect.ownKeys(copy).length === 1 &&
      copy.n === '8-1' &&
      words === '..c,a'
    );
  } catch {
    return false;
  }
}

function sum(this: unknown, added: number): number {
  return Number(this) + added;
}

/** Each replaced function should give a different result. */
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
    const weak = new WeakMap([[numbers, 'x']]);
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
      [Math.max(1, 2), Math.min(1, 2), Math.floor(1.5), Math.ceil(1.5), Math.round(1.4)],
      [
        Math.abs(-1),
        Math.imul(2, 3),
        Number.parseInt('7', 10),
        Date.parse('1970-01-02'),
        Date.UTC(1970, 0, 3),
      ],
      [Number.isSafeInteger(1), Number.isInteger(1.5), Number.isFinite(1), Number.isNaN(1)],
      [/b/.test('ab'), /b/.exec('ab')?.index],
      [sum.call(1, 2), sum.apply(1, [3]), sum.bind(1)(4)],
      [weak.has(numbers), weak.get(numbers), weak.delete(numbers), weak.has(numbers)],
      [Buffer.concat([Buffer.alloc(1), Buffer.from('b')]).length, Buffer.allocUnsafe(2).length],
    ];
    return JSON.stringify(results) === OTHER_RESULTS;
  } catch {
    return false;
  }
}

const OTHER_RESULTS =
  '["Ab","AB-C",6,[true,true,true,true,"x"],["A","A","b",65,65],[" Ab-c","Ab-c ","aa","a.","bb","ab"],[1,1,1,-1],[4,3,1],[5,1,1,2],[true,false,true,0],[7,[1],[1,1],[1,2]],[[7,7],[[0,1]],[0],[1],2],[[1],[1],{"a":1},[1],true],[true,false,true,1,true,false,1],[["b"],["b"],[["b","b"]],["a"],[1]],[true,false,false],[true,["a"]],[true,"1970-01-01T00:00:00.000Z","61",2],[5,2,1,"a","b"],[2,1,1,2,1],[1,6,7,86400000,172800000],[true,false,true,false],[true,1],[3,4,5],[true,"x",true,false],[2,2]]';
