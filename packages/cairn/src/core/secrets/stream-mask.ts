/**
 * Removes secret values from a text that arrives in chunks, wherever the chunks are cut. Pure except for its buffer: the end of
 * the text so far, while it may be the beginning of a secret value or half of a character.
 */

import { isHighSurrogate } from '../logs/text.ts';
import { REDACTED } from './mask.ts';

export class StreamMask {
  /** Secrets by their first character, longest first. */
  readonly #secrets = new Map<string, string[]>();
  #held = '';

  constructor(secrets: readonly string[]) {
    for (const secret of [...secrets].sort((a, b) => b.length - a.length)) {
      const [first = ''] = secret.split('', 1);
      this.#secrets.set(first, [...(this.#secrets.get(first) ?? []), secret]);
    }
  }

  /** Returns the part of the text that cannot be the beginning of a secret. */
  push(chunk: string): string {
    return this.#take(chunk, false);
  }

  /** Returns the buffered rest; no chunk follows. */
  end(): string {
    return this.#take('', true);
  }

  #take(chunk: string, isEnd: boolean): string {
    const text = this.#held + chunk;
    let shown = '';
    let from = 0;
    let at = 0;
    for (; at < text.length; at += 1) {
      const secrets = this.#secrets.get(text.charAt(at));
      if (!secrets) continue;
      if (!isEnd && secrets.some((secret) => mayBegin(text, at, secret))) break;
      const found = secrets.find((secret) => text.startsWith(secret, at));
      if (found === undefined) continue;
      shown += text.slice(from, at) + REDACTED;
      from = at + found.length;
      at = from - 1;
    }
    const isHalf = at === text.length && isHighSurrogate(text.charCodeAt(at - 1));
    const to = !isEnd && isHalf ? Math.max(from, at - 1) : at;
    this.#held = text.slice(to);
    return shown + text.slice(from, to);
  }
}

/** The text ends within this secret value. */
function mayBegin(text: string, at: number, secret: string): boolean {
  const left = text.length - at;
  return left < secret.length && secret.startsWith(text.slice(at));
}
