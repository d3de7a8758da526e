/** Removes undefined members, because absent members are not stored. */
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

/** The value without undefined members at any depth; the same object if it has none. For plain objects and arrays. */
export function withoutUndefined<T>(value: T): T {
  // Checks first without allocating, because this runs for every event and nearly all values have none.
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

/** Sets an own member, even one named `__proto__`. */
function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
  else object[name] = value;
}

/** Members that only other variants of a union have: always absent, but readable. */
export type Without<K extends string> = { readonly [P in K]?: undefined };
