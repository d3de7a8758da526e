/** Prints text that steps stream as it grows. Pure, except for the position of the last print. */
import type { StreamedLine } from '@cairn/client';
import type { OutputShape } from '../context.ts';
import { headOf } from './logs.ts';

export class StreamedPrint {
  readonly #began: string;
  readonly #shape: OutputShape;
  /** Steps whose current text was printed. */
  readonly #shown = new Set<string>();
  /** Step whose text the last print left open. */
  #open: string | undefined;

  /** @param began when the run was made */
  constructor(began: string, shape: OutputShape) {
    this.#began = began;
    this.#shape = shape;
  }

  /** Text to print before anything else. */
  interrupt(): string {
    if (this.#open === undefined) return '';
    this.#open = undefined;
    return '\n';
  }

  print(line: StreamedLine): string {
    const { style } = this.#shape;
    const name = line.undoes ? `${line.step} undone` : line.step;
    const head = () => `${this.interrupt()}${style.dim(headOf(line, this.#began))}`;
    switch (line.kind) {
      case 'attempt':
        if (!this.#shown.delete(name)) return '';
        return `${head()}${style.dim('the text starts again')}\n`;
      case 'text': {
        const begin = this.#open === name ? '' : head();
        this.#shown.add(name);
        this.#open = name;
        return `${begin}${harmless(line.text)}`;
      }
      case 'text_end':
        return line.cut ? `${head()}${style.dim('the rest of the text is not kept')}\n` : this.interrupt();
    }
  }
}

/** Removes control characters, but keeps lines and spaces. */
function harmless(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, (character) => ('\n\t'.includes(character) ? character : '\ufffd'));
}
