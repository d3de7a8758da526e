/** Members that are absent where there is no value, because absent members are not stored. */
export function optional<K extends string, V>(name: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [P in K]?: V });
}

/** The value without members that are undefined, at any depth: the value itself where there are none. For plain objects and arrays. */
export function withoutUndefined<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const members: unknown[] = value.map(withoutUndefined);
    return members.every((member, at) => member === value[at]) ? value : (members as T);
  }
  let isSame = true;
  const members = Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    const kept = withoutUndefined(member);
    if (kept !== member || kept === undefined) isSame = false;
    return kept === undefined ? [] : [[name, kept] as const];
  });
  return isSame ? value : (Object.fromEntries(members) as T);
}

/** Members that other members of a union have: absent, and readable as such. */
export type Without<K extends string> = { readonly [P in K]?: undefined };
