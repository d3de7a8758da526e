/** Text of one row of a JSON value. Pure. */
import { countOf, headOf, sizeWords, visibleText } from '../visible-text.ts';
import { sizeOf, type TreeNode } from './tree.ts';

/** Characters of a string in a row; choosing the row shows all of it. */
const ROW_CHARS = 120;

type ValueTone = 'text' | 'number' | 'word' | 'branch';

interface RowWords {
  readonly tone: ValueTone;
  readonly words: string;
  /** The reason why a part of it is missing. */
  readonly more?: string;
}

export function rowWords({ value, range }: TreeNode): RowWords {
  if (range) return { tone: 'branch', words: `${range.from} … ${range.to - 1}` };
  if (typeof value === 'string') {
    const head = JSON.stringify(headOf(value, ROW_CHARS));
    if (value.length <= ROW_CHARS) return { tone: 'text', words: visibleText(head) };
    return { tone: 'text', words: visibleText(head.slice(0, -1)), more: `… ${sizeWords(value.length)}` };
  }
  if (typeof value === 'number') return { tone: 'number', words: String(value) };
  if (typeof value !== 'object' || value === null) return { tone: 'word', words: String(value) };
  return { tone: 'branch', words: branchWords(value) };
}

function branchWords(value: object): string {
  const size = sizeOf(value);
  if (Array.isArray(value)) return size === 0 ? '[]' : `[ ${countOf(size, 'item')} ]`;
  return size === 0 ? '{}' : `{ ${countOf(size, 'member')} }`;
}
