/**
 * Tags of a run: names that its workflow derives from the readable input at the start. Each is stored as `name:value` among the
 * names by which a run is found, so that tags cost no additional write or index. Pure.
 */
import { type CairnError, invalidInput } from '../errors.ts';

/** Each is an entry of an index, written with every snapshot. */
export const MAX_TAGS = 10;
const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,49}$/;
export const MAX_TAG_VALUE_CHARS = 200;
/** Characters that a list or a terminal would not show. */
const CONTROL = /\p{Cc}/u;

/** Values by name. One that is undefined, null or empty is no tag. */
export type Tags = Readonly<Record<string, string | number | boolean | null | undefined>>;

/**
 * @param type of the workflow, for the error
 * @throws CairnError INVALID_INPUT for a wrong name or value, or too many
 */
export function tagsOf(type: string, given: Tags): readonly string[] {
  // A promise would count as an object without tags.
  if (typeof given !== 'object' || given === null || Array.isArray(given) || given instanceof Promise)
    throw refusal(type, 'is no object of values by name');
  const tags = Object.entries(given).flatMap(([name, value]) => {
    if (value === undefined || value === null || value === '') return [];
    const problem = problemOf(name, value);
    if (problem !== undefined) throw refusal(type, problem);
    return [`${name}:${value}`];
  });
  if (tags.length > MAX_TAGS) throw refusal(type, `has ${tags.length} tags; at most ${MAX_TAGS} are allowed`);
  return tags;
}

function problemOf(name: string, value: unknown): string | undefined {
  if (!NAME.test(name))
    return `has the name '${name.slice(0, 60)}': use a letter, then up to 49 letters, digits, '_', '.' or '-'`;
  if (!['string', 'number', 'boolean'].includes(typeof value))
    return `has a value of '${name}' that is no text, number or boolean`;
  const text = String(value);
  if (text.length > MAX_TAG_VALUE_CHARS)
    return `has a value of '${name}' with ${text.length} characters; at most ${MAX_TAG_VALUE_CHARS} are allowed`;
  // A store would change a lone surrogate, so that the text would not match its hash.
  if (!text.isWellFormed()) return `has a value of '${name}' with a lone surrogate`;
  return CONTROL.test(text) ? `has a value of '${name}' with control characters` : undefined;
}

function refusal(type: string, problem: string): CairnError {
  return invalidInput('tags', `the result of 'tags' of '${type}' ${problem}`, {
    help: "Change the function 'tags' of the workflow, or send an input for which its result is valid.",
  });
}

/**
 * The index of names has thread ids and idempotency keys too, and their senders may choose the text of a tag. Undefined: any run.
 */
export function hasTag(tags: unknown, tag: string | undefined): boolean {
  return tag === undefined || (Array.isArray(tags) && tags.includes(tag));
}
