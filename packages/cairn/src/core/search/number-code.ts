/**
 * Maps numbers to short texts of the same order, so that an index of texts finds the numbers above or below another. Pure.
 *
 * A code has {@link NUMBER_DIGITS} digits of base 4: a bit for the sign, six for the power of two (2^-16 to 2^48; smaller and
 * greater numbers share the outermost codes), 12 for the following digits, and one that distinguishes the exact number from those
 * up to the next. So each integer up to 4,096 has a unique code, and numbers that differ by a part in 4,096 have different codes.
 * Codes are stored, so the mapping must never change.
 */

export const NUMBER_DIGITS = 10;
const BASE = 4;
const HALF = BASE ** NUMBER_DIGITS / 2;

/** Parts of the upper half of an IEEE 754 double: all but the sign, and the lowest bits. */
const MAGNITUDE_BITS = 0x7fff_ffff;
const UNCODED_BITS = 8;
const LEAST = (1_023 - 16) << 12;

export type Comparing = '>' | '>=' | '<' | '<=';

/** @param value finite */
export function numberCode(value: number): string {
  return codeText(placeOf(value).code);
}

/**
 * Prefixes of the codes of all numbers that compare so with `than`, and of few others. Undefined if more than `most` would be
 * needed.
 *
 * @param most prefixes; fewer make the range wider. Three for each digit are always enough for the closest range
 */
export function codesThatAre(is: Comparing, than: number, most: number): readonly string[] | undefined {
  const isUp = is === '>' || is === '>=';
  const { code: own, isAlone } = placeOf(than);
  const code = codeText(isAlone && is === '>' ? own + 1 : isAlone && is === '<' ? own - 1 : own);
  // A code that ends so begins, or ends, a range that its shorter beginning has as a whole.
  const length = Math.max(1, code.replace(isUp ? /0+$/ : /3+$/, '').length);
  const beyond: string[] = [];
  let found: readonly string[] | undefined;
  for (let end = 1; end <= length; end += 1) {
    const digit = Number(code[end - 1]);
    for (let other = 0; other < BASE; other += 1)
      if (isUp ? other > digit : other < digit) beyond.push(`${code.slice(0, end - 1)}${other}`);
    if (beyond.length + 1 > most) break;
    found = [...beyond, code.slice(0, end)];
  }
  return found;
}

interface EncodedNumber {
  readonly code: number;
  /** True if no other number has this code. */
  readonly isAlone: boolean;
}

function placeOf(value: number): EncodedNumber {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const upper = view.getUint32(0) & MAGNITUDE_BITS;
  const isRounded = upper % (1 << UNCODED_BITS) !== 0 || view.getUint32(4) !== 0;
  const above = (upper >>> UNCODED_BITS) - LEAST;
  // Even places stand for exactly one number: 0 for zero, then one for each number with a code of its own.
  const inRange = above < 0 ? Number(value !== 0) : 2 + 2 * above + Number(isRounded);
  const place = Math.min(inRange, HALF - 1);
  return { code: value < 0 ? HALF - 1 - place : HALF + place, isAlone: place % 2 === 0 };
}

function codeText(code: number): string {
  return code.toString(BASE).padStart(NUMBER_DIGITS, '0');
}
