// A TypeScript parser for ESLint, based on that of the bundler, because typescript-eslint needs a compiler with a JavaScript API,
// which this repository's compiler lacks. Produces the tree of typescript-eslint without tokens, so rules that need tokens, such
// as formatting rules, do not work.
import { parseSync } from 'rolldown/utils';

export const meta = { name: 'cairn-repository/typescript-parser' };

interface Node {
  start: number;
  end: number;
  range?: [number, number];
  loc?: { start: Position; end: Position };
}

interface Position {
  line: number;
  column: number;
}

export function parseForESLint(text: string, { filePath = 'file.ts' }: { filePath?: string } = {}) {
  const { program, comments, errors } = parseSync(filePath, text, {
    lang: filePath.endsWith('x') ? 'tsx' : 'ts',
    astType: 'ts',
    range: true,
    preserveParens: false,
  });
  const [error] = errors;
  if (error) throw new SyntaxError(`${filePath}: ${error.message}`);
  const locate = locator(text);
  eachNode(program, locate);
  for (const comment of comments) locate(comment);
  return { ast: { ...program, comments, tokens: [] } };
}

/** Sets `range` and `loc`, which ESLint uses for positions. */
function locator(text: string): (node: Node) => void {
  const lines = [
    0,
    ...[...text.matchAll(/\r\n|[\r\n\u2028\u2029]/g)].map(({ 0: end, index }) => index + end.length),
  ];
  const position = (offset: number): Position => {
    let [low, high] = [0, lines.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((lines[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (lines[low] ?? 0) };
  };
  return (node) => {
    node.range = [node.start, node.end];
    node.loc = { start: position(node.start), end: position(node.end) };
  };
}

function eachNode(value: unknown, visit: (node: Node) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if ('type' in value && typeof value.type === 'string') visit(value as unknown as Node);
  for (const [key, member] of Object.entries(value)) {
    if (key !== 'loc' && key !== 'range') eachNode(member, visit);
  }
}
