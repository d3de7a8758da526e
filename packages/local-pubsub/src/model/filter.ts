/**
 * The filter language of subscriptions over a message's attributes: `attributes:k`, `attributes.k = "v"`, `!=`,
 * `hasPrefix(attributes.k, "v")`, `NOT`, `AND`, `OR`, parentheses. Owns its grammar and meaning. Pure.
 *
 * As in production, AND and OR cannot be mixed without parentheses. `!=` is true for a message without the key, as in
 * Google's own fake of the service; the documentation does not say.
 */
import { invalid } from './status.ts';

export type MessageFilter = (attributes: Readonly<Record<string, string>>) => boolean;

interface Token {
  readonly kind: 'word' | 'text' | 'sign' | 'end';
  readonly value: string;
  readonly at: number;
}

const TOKEN =
  /\s*(?:(?<word>[A-Za-z0-9_][A-Za-z0-9_-]*)|(?<text>"(?:[^"\\]|\\.)*")|(?<sign>!=|[=:.,()-]))/suy;

/** @throws PubsubError INVALID_ARGUMENT with the position of the error */
export function parseFilter(source: string): MessageFilter {
  if (source.trim() === '') return () => true;
  const parser = new Parser(tokens(source), source);
  return parser.whole();
}

function tokens(source: string): Token[] {
  const found: Token[] = [];
  TOKEN.lastIndex = 0;
  let end = 0;
  while (source.slice(end).trim() !== '') {
    const match = TOKEN.exec(source);
    if (match === null) throw nonsense(source, end, 'an unexpected character');
    const [kind, value] = Object.entries(match.groups ?? {}).find((group) => group[1] !== undefined) as [
      Token['kind'],
      string,
    ];
    found.push({ kind, value: kind === 'text' ? unescaped(value, source, end) : value, at: end });
    end = TOKEN.lastIndex;
  }
  return [...found, { kind: 'end', value: '', at: source.length }];
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  '"': '"',
  "'": "'",
};

function unescaped(literal: string, source: string, at: number): string {
  const escapes = /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([0-7]{3})|(.))/gsu;
  return literal.slice(1, -1).replace(escapes, (_all, u4, u8, x, octal, plain) => {
    const point = octal ? Number.parseInt(octal, 8) : Number.parseInt(u4 ?? u8 ?? x ?? 'NaN', 16);
    const character = Number.isNaN(point) ? ESCAPES[plain] : point <= 0x10ffff && String.fromCodePoint(point);
    if (!character) throw nonsense(source, at, 'an unknown escape');
    return character;
  });
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #source: string;
  #at = 0;

  constructor(tokens: readonly Token[], source: string) {
    this.#tokens = tokens;
    this.#source = source;
  }

  whole(): MessageFilter {
    const filter = this.#expression();
    if (this.#peek().kind !== 'end') throw this.#unexpected();
    return filter;
  }

  #expression(): MessageFilter {
    const parts = [this.#negation()];
    const joint = this.#peek().value;
    if (this.#peek().kind !== 'word' || (joint !== 'AND' && joint !== 'OR')) return parts[0] as MessageFilter;
    while (this.#skip('word', joint)) parts.push(this.#negation());
    if (this.#peek().kind === 'word') {
      throw nonsense(this.#source, this.#peek().at, 'AND and OR mixed without parentheses');
    }
    return joint === 'AND'
      ? (attributes) => parts.every((part) => part(attributes))
      : (attributes) => parts.some((part) => part(attributes));
  }

  #negation(): MessageFilter {
    if (!this.#skip('word', 'NOT') && !this.#skip('sign', '-')) return this.#term();
    const term = this.#term();
    return (attributes) => !term(attributes);
  }

  #term(): MessageFilter {
    if (this.#skip('sign', '(')) {
      const inner = this.#expression();
      this.#expect('sign', ')');
      return inner;
    }
    if (this.#skip('word', 'hasPrefix')) return this.#prefix();
    this.#expect('word', 'attributes');
    if (this.#skip('sign', ':')) {
      const key = this.#key();
      return (attributes) => Object.hasOwn(attributes, key);
    }
    this.#expect('sign', '.');
    const key = this.#key();
    const differs = this.#skip('sign', '!=');
    if (!differs) this.#expect('sign', '=');
    const value = this.#expect('text');
    return (attributes) => (Object.hasOwn(attributes, key) && attributes[key] === value) !== differs;
  }

  #prefix(): MessageFilter {
    this.#expect('sign', '(');
    this.#expect('word', 'attributes');
    this.#expect('sign', '.');
    const key = this.#key();
    this.#expect('sign', ',');
    const prefix = this.#expect('text');
    this.#expect('sign', ')');
    return (attributes) => Object.hasOwn(attributes, key) && attributes[key]?.startsWith(prefix) === true;
  }

  #key(): string {
    return this.#peek().kind === 'text' ? this.#expect('text') : this.#expect('word');
  }

  #peek(): Token {
    return this.#tokens[this.#at] as Token;
  }

  #skip(kind: Token['kind'], value: string): boolean {
    const token = this.#peek();
    if (token.kind !== kind || token.value !== value) return false;
    this.#at++;
    return true;
  }

  #expect(kind: Token['kind'], value?: string): string {
    const token = this.#peek();
    if (token.kind !== kind || (value !== undefined && token.value !== value)) throw this.#unexpected();
    this.#at++;
    return token.value;
  }

  #unexpected(): Error {
    const { kind, value, at } = this.#peek();
    return nonsense(this.#source, at, kind === 'end' ? 'the end of the filter' : `'${value}'`);
  }
}

function nonsense(source: string, at: number, what: string): Error {
  const shown = source.replace(/[^\x20-\x7e]/g, '?');
  return invalid(`The provided filter is not valid: ${what} at ${at} of ${shown}`);
}
