/** JSON with comments and commas before a closing bracket, as `firebase.json` and `tsconfig.json` may have them. Pure. */
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';

/** @throws SyntaxError that names the line */
export function parseJsonc(text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first === undefined) return value;
  const line = text.slice(0, first.offset).split('\n').length;
  throw new SyntaxError(`it is not JSON: ${printParseErrorCode(first.error)} in line ${line}`);
}
