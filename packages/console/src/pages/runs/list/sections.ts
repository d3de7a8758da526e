/**
 * The pages as one list: its length, and the row at each index, in memory or not. Pure.
 *
 * Pages can overlap: when runs of a page no longer match, the page reaches into the next one after it is read again.
 */
import { byAge, type RunRow } from '../row.ts';

interface RowsPage {
  /** Undefined: not in memory. */
  readonly rows: readonly RunRow[] | undefined;
  /** Number of rows it takes while they are not in memory. */
  readonly count: number;
}

interface Section {
  readonly start: number;
  readonly count: number;
  readonly rows: readonly RunRow[] | undefined;
}

export class Sections {
  readonly total: number;
  readonly #sections: readonly Section[];

  constructor(pages: readonly RowsPage[]) {
    let start = 0;
    let last: RunRow | undefined;
    this.#sections = pages.map(({ rows, count }) => {
      const before = last;
      const own = rows && before ? rows.filter((row) => byAge(before, row) < 0) : rows;
      const section = { start, count: own?.length ?? count, rows: own };
      start += section.count;
      last = own?.at(-1) ?? before;
      return section;
    });
    this.total = start;
  }

  /** Undefined: there is none, or it is not in memory. */
  at(index: number): RunRow | undefined {
    const section = this.#sections[this.sectionAt(index)];
    return section?.rows?.[index - section.start];
  }

  /** The page that contains the index, or the last page. */
  sectionAt(index: number): number {
    const at = this.#sections.findLastIndex(({ start, count }) => count > 0 && index >= start);
    return Math.max(0, at);
  }

  /** Rows in memory between two indexes in either order, inclusive. */
  between(a: number, b: number): readonly RunRow[] {
    const rows: RunRow[] = [];
    for (let index = Math.min(a, b); index <= Math.max(a, b); index += 1) {
      const row = this.at(index);
      if (row) rows.push(row);
    }
    return rows;
  }

  /** -1 if the row is not in memory. */
  indexOf(id: string): number {
    for (const { rows, start } of this.#sections) {
      const at = rows?.findIndex((row) => row.id === id) ?? -1;
      if (at !== -1) return start + at;
    }
    return -1;
  }
}
