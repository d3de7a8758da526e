/**
 * Changes by bodies to the language with which no run of this process works any more: built-ins that were replaced by others with wrong
 * results, and members that were added to prototypes. JSON has other text then, awaited objects never resolve, or assigned members are
 * lost.
 *
 * Must not: report what packages do without harm, such as a wrapped `JSON.stringify`, `should`, or `Array.prototype.last`.
 */
const { ownKeys, getOwnPropertyDescriptor, set } = Reflect;

export interface HarmfulMember {
  /** Such as `Object.prototype.toJSON`. */
  readonly name: string;
  readonly holder: object;
  readonly key: PropertyKey;
}

/** Members that the language asks every value for, but for those that packages had added before. */
const ASKED_OF_ALL: readonly HarmfulMember[] = [
  { name: 'Object.prototype', holder: Object.prototype },
  { name: 'Array.prototype', holder: Array.prototype },
  { name: 'String.prototype', holder: String.prototype },
  { name: 'Number.prototype', holder: Number.prototype },
  { name: 'Boolean.prototype', holder: Boolean.prototype },
]
  .flatMap(({ name, holder }) => ['toJSON', 'then'].map((key) => ({ name: `${name}.${key}`, holder, key })))
  .filter(({ holder, key }) => !getOwnPropertyDescriptor(holder, key));
/** Members of property descriptors and of results of iterators: every object seems to have them. */
const ASKED_OF_PLAIN = ['get', 'set', 'value', 'writable', 'enumerable', 'configurable', 'done'] as const;
/** Those of the language, and of packages that were loaded before. */
const known = new Set<PropertyKey>(ownKeys(Object.prototype));
const knownCount = known.size;
const isKnown = known.has.bind(known);

/** Takes less than a microsecond if there are none. Calls nothing that a body may have replaced, but to name what it found. */
export function harmfulMembers(): readonly HarmfulMember[] {
  const found: HarmfulMember[] = [];
  for (let at = 0; at < ASKED_OF_ALL.length; at += 1) {
    const member = ASKED_OF_ALL[at] as HarmfulMember;
    if (getOwnPropertyDescriptor(member.holder, member.key)) found[found.length] = member;
  }
  const keys = ownKeys(Object.prototype);
  if (keys.length === knownCount) return found;
  for (let at = 0; at < keys.length; at += 1) {
    const key = keys[at] as PropertyKey;
    if (isKnown(key) || key === 'toJSON' || key === 'then' || !isHarmful(key)) continue;
    found[found.length] = { name: `Object.prototype.${String(key)}`, holder: Object.prototype, key };
  }
  return found;
}

/**
 * Takes a few microseconds. Call it before each write.
 *
 * @throws Error if what this process writes would be wrong
 */
export function assertIntact(): void {
  const [member] = harmfulMembers();
  if (member === undefined && builtinsWork()) return;
  const what = member ? `added ${member.name}` : 'replaced built-ins of JavaScript';
  throw new Error(`a step ${what}, and nothing that this process writes can be trusted`);
}

/** Packages of monitoring replace built-ins by functions that still work. False if the results are wrong. */
export function builtinsWork(): boolean {
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

function isHarmful(key: PropertyKey): boolean {
  for (let at = 0; at < ASKED_OF_PLAIN.length; at += 1) if (ASKED_OF_PLAIN[at] === key) return true;
  const probe = {};
  try {
    set(probe, key, 1);
  } catch {
    return true;
  }
  return getOwnPropertyDescriptor(probe, key)?.value !== 1;
}
