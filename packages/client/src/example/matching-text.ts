/**
 * Makes a text that matches a regular expression with literals, classes, groups, alternatives and quantifiers. Assertions,
 * references and character properties are not supported. Pure.
 */

/** Repetitions beyond what a quantifier requires make a text longer, not clearer. */
const MAX_REPEATED = 200;

class UnknownPattern extends Error {}

/** Returns a text that was checked against the pattern, or undefined. */
export function matchingText(pattern: string): string | undefined {
  try {
    const text = new PatternReader(pattern).read();
    return new RegExp(pattern, 'u').test(text) ? text : undefined;
  } catch (error) {
    // SyntaxError: the source is not valid with the flag `u`.
    if (error instanceof UnknownPattern || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Characters of an escape, the first of which is used. */
const ESCAPES: Readonly<Record<string, string>> = {
  d: '1',
  w: 'a',
  s: ' ',
  D: 'a',
  W: '-',
  S: 'a',
  t: '\t',
  n: '\n',
};
/** First choice of a class, because they read best. */
const PREFERRED = 'a1A0-';

class PatternReader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  read(): string {
    const text = this.#alternatives();
    if (this.#at < this.#source.length) throw new UnknownPattern();
    return text;
  }

  /** Uses the first alternative and skips the others. */
  #alternatives(): string {
    const text = this.#sequence();
    while (this.#take('|')) this.#sequence();
    return text;
  }

  #sequence(): string {
    let text = '';
    while (this.#at < this.#source.length && !'|)'.includes(this.#next)) {
      // Anchors are ignored: the check at the end finds those that do not match.
      if (this.#take('^') || this.#take('$')) continue;
      const one = this.#atom();
      text += one.repeat(this.#times());
    }
    return text;
  }

  #atom(): string {
    if (this.#take('(')) return this.#group();
    if (this.#take('[')) return this.#class();
    if (this.#take('.')) return 'a';
    return this.#character();
  }

  #group(): string {
    if (this.#take('?') && !this.#take(':')) {
      if (!this.#take('<') || '=!'.includes(this.#next)) throw new UnknownPattern();
      while (this.#next !== '>') this.#at += 1;
      this.#at += 1;
    }
    const text = this.#alternatives();
    if (!this.#take(')')) throw new UnknownPattern();
    return text;
  }

  #class(): string {
    if (this.#take('^')) throw new UnknownPattern();
    const ranges: (readonly [from: string, to: string])[] = [];
    while (!this.#take(']')) {
      const from = this.#character();
      const isRange = this.#next === '-' && this.#source[this.#at + 1] !== ']';
      if (isRange) this.#at += 1;
      ranges.push([from, isRange ? this.#character() : from]);
    }
    const [first] = ranges;
    if (!first) throw new UnknownPattern();
    const has = (one: string) => ranges.some(([from, to]) => from <= one && one <= to);
    return [...PREFERRED].find(has) ?? first[0];
  }

  #character(): string {
    const one = this.#next;
    this.#at += 1;
    if (one !== '\\') return one;
    const escaped = this.#next;
    this.#at += 1;
    const known = ESCAPES[escaped];
    if (known !== undefined) return known;
    if (/[a-z0-9]/i.test(escaped)) throw new UnknownPattern();
    return escaped;
  }

  /** The minimum of the quantifier, but at least 1. */
  #times(): number {
    let least = 1;
    if (this.#take('+') || this.#take('*') || this.#take('?')) least = 1;
    else {
      const [quantifier, from] = /^\{(\d+)(?:,\d*)?\}/.exec(this.#source.slice(this.#at)) ?? [];
      if (quantifier !== undefined) {
        this.#at += quantifier.length;
        least = quantifier.endsWith('}') && /,0\}$|^\{0\}$/.test(quantifier) ? 0 : Math.max(1, Number(from));
      }
    }
    this.#take('?');
    if (least > MAX_REPEATED) throw new UnknownPattern();
    return least;
  }

  /** @throws UnknownPattern at the end */
  get #next(): string {
    const one = this.#source[this.#at];
    if (one === undefined) throw new UnknownPattern();
    return one;
  }

  #take(one: string): boolean {
    if (this.#source[this.#at] !== one) return false;
    this.#at += 1;
    return true;
  }
}
