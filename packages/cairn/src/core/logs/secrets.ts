/** Takes the secret values of a run's input out of what its bodies log. Pure. */

/** Shorter values occur in ordinary text: masking them would make lines unreadable, and tell where they stand. */
export const SHORTEST_SECRET = 6;
/** More secret values than a person's input has. */
const MAX_SECRETS = 200;
export const MASK = '[redacted]';

/** Texts at the dotted paths; `*` stands for every member of an object or list. Longest first. */
export function secretTexts(input: unknown, paths: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const path of paths) collect(input, path.split('.'), found);
  return [...found].sort((a, b) => b.length - a.length);
}

/** Undefined: there is nothing to mask. */
export function maskOf(secrets: readonly string[]): ((text: string) => string) | undefined {
  if (secrets.length === 0) return undefined;
  return (text) => {
    let masked = text;
    for (const secret of secrets) masked = masked.replaceAll(secret, MASK);
    return masked;
  };
}

function collect(value: unknown, [name, ...rest]: readonly string[], found: Set<string>): void {
  if (found.size >= MAX_SECRETS) return;
  if (name === undefined) {
    if (typeof value === 'object' && value !== null)
      for (const member of Object.values(value)) collect(member, [], found);
    else if (value !== undefined && String(value).length >= SHORTEST_SECRET) found.add(String(value));
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const members = value as Record<string, unknown>;
  for (const member of name === '*' ? Object.keys(members) : [name])
    if (Object.hasOwn(members, member)) collect(members[member], rest, found);
}
