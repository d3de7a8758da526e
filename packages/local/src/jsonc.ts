/**
 * Parses JSON with comments, trailing commas and a byte order mark, which `firebase.json` and `tsconfig.json` may have. Pure.
 */
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';

/** @throws SyntaxError that names the line */
export function parseJsonc(marked: string): unknown {
  const text = marked.replace(/^\uFEFF/, '');
  return parsePlain(text) ?? parseLenient(text);
}

/** Parses a file without comments. In a new process this reads the indexes of a project a hundred times as fast. */
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
