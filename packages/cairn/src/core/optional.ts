/** Members that are absent where there is no value, because absent members are not stored. */
export function optional<K extends string, V>(name: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [P in K]?: V });
}

/** The members that are not undefined. The compiler checks their names, unlike those of {@link optional}. */
export function present<T extends object>(
  members: T,
): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { readonly [K in keyof T]?: Exclude<T[K], undefined> };
}

/** The value without members that are undefined, at any depth: the value itself where there are none. For plain objects and arrays. */
export function withoutUndefined<T>(value: T): T {
  // Nearly all have none, and this runs for every event: no list of members is made for them.
  return hasUndefined(value) ? (stripped(value) as T) : value;
}

function hasUndefined(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasUndefined);
  for (const name of Object.keys(value)) {
    const member: unknown = value[name as keyof object];
    if (member === undefined || hasUndefined(member)) return true;
  }
  return false;
}

function stripped(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(stripped);
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const member: unknown = value[name as keyof object];
    if (member !== undefined) setMember(kept, name, stripped(member));
  }
  return kept;
}

/** Sets an own member, also one that is named `__proto__`. */
function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
  else object[name] = value;
}

/** Members that other members of a union have: absent, and readable as such. */
export type Without<K extends string> = { readonly [P in K]?: undefined };
