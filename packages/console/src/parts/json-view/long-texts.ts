/** Texts within a JSON value that a person reads as a text, such as a draft to be approved. Pure. */

export interface LongText {
  /** Members that lead to it: `letter.body`. */
  readonly path: string;
  readonly text: string;
}

/** Characters from which a row of the tree, which does not wrap, overflows a narrow screen. */
const LONG = 32;
/** Limit of the texts; the tree has the others. */
const MAX_TEXTS = 10;
/** Limit of the members that are searched. */
const MAX_MEMBERS = 1_000;
const DEEPEST = 4;

/** The first long or multi-line texts within a value. Empty for a value that is itself a text. */
export function longTexts(value: unknown): readonly LongText[] {
  const found: LongText[] = [];
  let members = 0;
  const look = (one: unknown, path: readonly string[]) => {
    if (typeof one === 'string') {
      if (one.length > LONG || one.includes('\n')) found.push({ path: path.join('.'), text: one });
      return;
    }
    if (typeof one !== 'object' || one === null || path.length === DEEPEST) return;
    for (const [name, member] of Object.entries(one)) {
      members += 1;
      if (found.length === MAX_TEXTS || members > MAX_MEMBERS) return;
      look(member, [...path, name]);
    }
  };
  if (typeof value !== 'string') look(value, []);
  return found;
}
