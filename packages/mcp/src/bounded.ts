/** Truncates a value until its JSON fits into an answer. Pure. */

/** About ten thousand tokens of a model. */
export const MAX_ANSWER_CHARS = 40_000;
const MAX_TEXT_CHARS = 4_000;
const MAX_ITEMS = 100;
/** Only values of workflows are deeper; answers of the API itself are not. */
const MAX_DEPTH = 24;
const CUT = '…';

export interface Bounded {
  readonly value: unknown;
  /** True if something was left out. */
  readonly isCut: boolean;
}

/** Longest text beside the data. */
export const MAX_SAID_CHARS = 20_000;

export function clipped(text: string, maxChars: number): string {
  // Many clients refuse half of a surrogate pair.
  return text.length <= maxChars
    ? text
    : `${text.slice(0, maxChars - 1).replace(/[\uD800-\uDBFF]$/, '')}${CUT}`;
}

/** True if all items of its lists fit. Long texts and lists within items may be truncated. */
export function isComplete(data: Readonly<Record<string, unknown>>): boolean {
  if (Object.values(data).some((list) => Array.isArray(list) && list.length > MAX_ITEMS)) return false;
  const cut = new Cutter(MAX_TEXT_CHARS, MAX_ITEMS).cut(data, MAX_DEPTH);
  return JSON.stringify(cut).length <= MAX_ANSWER_CHARS;
}

/** @param value JSON */
export function bounded(value: unknown, maxChars: number = MAX_ANSWER_CHARS): Bounded {
  for (let texts = MAX_TEXT_CHARS, items = MAX_ITEMS, depth = MAX_DEPTH; ; ) {
    const cutter = new Cutter(texts, items);
    const cut = cutter.cut(value, depth);
    // `undefined` has no JSON and always fits.
    if ((JSON.stringify(cut)?.length ?? 0) <= maxChars) return { value: cut, isCut: cutter.isCut };
    texts = Math.max(1, texts >> 1);
    items >>= 1;
    depth = Math.max(1, depth - 2);
  }
}

class Cutter {
  isCut = false;
  readonly #texts: number;
  readonly #items: number;

  constructor(texts: number, items: number) {
    this.#texts = texts;
    this.#items = items;
  }

  cut(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth === 0) {
      this.isCut = true;
      return CUT;
    }
    if (Array.isArray(value)) return this.#first(value).map((one) => this.cut(one, depth - 1));
    // JSON leaves out undefined members, so they do not count.
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return Object.fromEntries(
      this.#first(members).map(([name, member]) => [this.#text(name), this.cut(member, depth - 1)]),
    );
  }

  #first<T>(list: readonly T[]): readonly T[] {
    if (list.length <= this.#items) return list;
    this.isCut = true;
    return list.slice(0, this.#items);
  }

  #text(text: string): string {
    if (text.length > this.#texts) this.isCut = true;
    return clipped(text, this.#texts);
  }
}
