/**
 * Parses JSON that a person types: the value, or position and reason of the error. Pure. Browsers report errors
 * differently, so the position is found here.
 */

export type ParsedJson =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'value'; readonly value: unknown }
  | ({ readonly kind: 'bad'; readonly line: number; readonly column: number } & JsonFault);

interface JsonFault {
  /** Length of the valid beginning. */
  readonly at: number;
  readonly why: string;
}

/** Line and column count from 1. */
export function readJson(text: string): ParsedJson {
  if (text.trim() === '') return { kind: 'nothing' };
  try {
    return { kind: 'value', value: JSON.parse(text) as unknown };
  } catch {
    const fault = faultIn(text);
    const before = text.slice(0, fault.at).split('\n');
    return { kind: 'bad', ...fault, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  }
}

/** The expected next token. `first …` also allows the end of the object or array. */
type Next = 'value' | 'first value' | 'name' | 'first name' | 'colon' | 'end';

const SPACE = /[ \t\n\r]*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: strings of JSON must not contain them
const UNESCAPED = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
const PLAIN = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** The offending word, for the message. */
const MEANT = /[\w$.+-]{1,20}|./suy;
const ENDS = { '{': '}', '[': ']' } as const;

/** Finds the first fault of a text that is not JSON. */
function faultIn(text: string): JsonFault {
  const scan = new Scan(text);
  for (let next: Next | JsonFault = 'value'; ; ) {
    if (typeof next !== 'string') return next;
    next = scan.step(next);
  }
}

class Scan {
  readonly #text: string;
  readonly #open: ('{' | '[')[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  step(next: Next): Next | JsonFault {
    this.#take(SPACE);
    if (this.#at >= this.#text.length) return this.#fault('it ends too early');
    switch (next) {
      case 'first name':
      case 'first value':
        if (this.#closes()) return 'end';
        return next === 'first name' ? this.#name() : this.#value();
      case 'name':
        return this.#name();
      case 'value':
        return this.#value();
      case 'colon':
        return this.#takeOne(':') ? 'value' : this.#expected('a colon');
      case 'end':
        return this.#end();
    }
  }

  #name(): Next | JsonFault {
    if (!this.#takeOne('"')) return this.#expected('a name in double quotes');
    return this.#restOfText() ?? 'colon';
  }

  #value(): Next | JsonFault {
    for (const bracket of ['{', '['] as const) {
      if (!this.#takeOne(bracket)) continue;
      this.#open.push(bracket);
      return bracket === '{' ? 'first name' : 'first value';
    }
    if (this.#takeOne('"')) return this.#restOfText() ?? 'end';
    return this.#take(PLAIN) ? 'end' : this.#expected('a value');
  }

  #end(): Next | JsonFault {
    const bracket = this.#open.at(-1);
    if (bracket === undefined) return this.#expected('nothing more');
    if (this.#closes()) return 'end';
    if (this.#takeOne(',')) return bracket === '{' ? 'name' : 'value';
    return this.#expected(`a comma or ${ENDS[bracket]}`);
  }

  #closes(): boolean {
    const bracket = this.#open.at(-1);
    if (bracket === undefined || !this.#takeOne(ENDS[bracket])) return false;
    this.#open.pop();
    return true;
  }

  #restOfText(): JsonFault | undefined {
    do this.#take(UNESCAPED);
    while (this.#take(ESCAPE));
    if (this.#takeOne('"')) return undefined;
    if (this.#at >= this.#text.length) return this.#fault('a string is not closed by a double quote');
    const isEscape = this.#text[this.#at] === '\\';
    return this.#fault(
      isEscape
        ? 'unknown escape; a backslash itself is written \\\\'
        : 'a string may not span several lines; a line feed is written \\n',
    );
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const length = pattern.exec(this.#text)?.[0].length ?? 0;
    this.#at += length;
    return length > 0;
  }

  #takeOne(character: string): boolean {
    const isHere = this.#text[this.#at] === character;
    if (isHere) this.#at += 1;
    return isHere;
  }

  #expected(what: string): JsonFault {
    MEANT.lastIndex = this.#at;
    return this.#fault(`expected ${what}, not ${MEANT.exec(this.#text)?.[0] ?? 'the end'}`);
  }

  #fault(why: string): JsonFault {
    return { at: this.#at, why };
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
