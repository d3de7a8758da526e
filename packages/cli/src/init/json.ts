/** JSON of files that `init` reads and writes. Pure. */

/** Text in the layout of Prettier, so that its check accepts the file. */
export function json(value: unknown): string {
  return `${laidOut(value)}\n`;
}

interface Layout {
  /** One level of indentation. Default: two spaces. */
  readonly unit?: string;
  /** Columns by which the text will be indented. Default: 0. */
  readonly columns?: number;
}

const SCALAR = '(?:"(?:[^"\\\\]|\\\\.)*"|[-\\w.+]+)';
const LIST = new RegExp(`\\[\\n\\s+(${SCALAR}(?:,\\n\\s+${SCALAR})*)\\n\\s*\\](,?)`, 'g');
const MAX_COLUMNS = 80;

/** JSON in lines, with each list of scalars in one line if it fits. */
export function laidOut(value: unknown, { unit = '  ', columns = 0 }: Layout = {}): string {
  const text = JSON.stringify(value, null, unit);
  return text.replace(LIST, (list: string, items: string, comma: string, at: number) => {
    const line = `[${items.replaceAll(/,\n\s+/g, ', ')}]${comma}`;
    const before = at - 1 - text.lastIndexOf('\n', at);
    return columns + before + line.length <= MAX_COLUMNS ? line : list;
  });
}

export function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
