/**
 * JSON with comments and commas before a closing bracket, as `firebase.json` and `tsconfig.json` may have them, and with the byte order
 * mark of Windows editors. Pure.
 */
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';

/** @throws SyntaxError that names the line */
export function parseJsonc(marked: string): unknown {
  const text = marked.replace(/^\uFEFF/, '');
  return parsePlain(text) ?? parseLenient(text);
}

/** Most files have no comments, and a process that has just started reads the indexes of a project a hundred times as fast so. */
function parsePlain(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseLenient(text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first === undefined) return value;
  const line = text.slice(0, first.offset).split('\n').length;
  throw new SyntaxError(`it is not JSON: ${printParseErrorCode(first.error)} in line ${line}`);
}
