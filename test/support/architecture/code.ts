/** Reads the parts of a source file that the rules need: its code without comments and texts, and its imports. */

/** Characters after which a slash begins a regular expression, not a division. */
const BEFORE_PATTERN = new Set('(,=:[!&|?{};+-*%~^<>\n');

/** Caches results, because several rules read the same files. */
function remembering<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const result = known.get(text) ?? read(text);
    known.set(text, result);
    return result;
  };
}

/** The text with comments, contents of texts and regular expressions replaced by blanks. */
export const codeOf = remembering(readCode);

function readCode(text: string): string {
  const code: string[] = [];
  /** Last character of the code that is not white space. */
  let last = '\n';
  /** For each open template, the number of open braces in its current `${…}`. */
  const templates: number[] = [];
  let at = 0;
  const take = (found: string) => {
    code.push(found);
    last = found.trimEnd().at(-1) ?? last;
    at += found.length;
  };
  const skip = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const [found = text[at] ?? ''] = pattern.exec(text) ?? [];
    code.push(found.replace(/[^\n]/g, ' '));
    at += found.length;
  };
  const plain = /[^/'"`{}]+/y;
  while (at < text.length) {
    plain.lastIndex = at;
    const [found] = plain.exec(text) ?? [];
    if (found !== undefined) {
      take(found);
      continue;
    }
    const char = text[at] ?? '';
    const open = templates.at(-1);
    if (text.startsWith('//', at)) skip(/\/\/[^\n]*/y);
    else if (text.startsWith('/*', at)) skip(/\/\*[\s\S]*?\*\//y);
    else if (char === "'" || char === '"') skip(/(['"])(?:\\[\s\S]|(?!\1)[^\\\n])*\1/y);
    else if (char === '/' && BEFORE_PATTERN.has(last)) {
      skip(/\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y);
    } else if (char === '`') skipTemplate();
    else if (char === '}' && open === 0) skipTemplate();
    else {
      if (open !== undefined && char === '{') templates[templates.length - 1] = open + 1;
      if (open !== undefined && char === '}') templates[templates.length - 1] = open - 1;
      take(char);
    }
  }
  return code.join('');

  /** Skips from a backtick, or the brace that ends a `${…}`, to the next `${` or the closing backtick. */
  function skipTemplate(): void {
    if (text[at] === '}') templates.pop();
    skip(/[`}](?:\\[\s\S]|\$(?!\{)|[^\\`$])*(?:`|\$\{)/y);
    if (text[at - 1] === '{') templates.push(0);
  }
}

export interface Import {
  readonly from: string;
  /** True for an import of types, which does not exist at run time. */
  readonly typeOnly: boolean;
}

export const importsOf = remembering(readImports);

function readImports(text: string): readonly Import[] {
  const statements = text.matchAll(/^\s*(?:import|export)\s+(type\s)?(?:[\w*\s{},$]+\s+from\s+)?'([^']+)'/gm);
  const dynamic = text.matchAll(/\bimport\(\s*'([^']+)'\s*\)/g);
  // A template may contain the text of another module.
  const code = text.includes('`') ? codeOf(text) : text;
  const isCode = ({ 0: statement, index }: RegExpExecArray) =>
    /^\s*(?:import|export)/.test(code.slice(index, index + statement.length));
  return [
    ...[...statements].filter(isCode).map(([, type, from = '']) => ({ from, typeOnly: type !== undefined })),
    ...[...dynamic].map(([, from = '']) => ({ from, typeOnly: false })),
  ];
}
