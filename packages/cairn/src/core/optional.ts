/** Members that are absent where there is no value: what is absent is not stored. */
export function optional<K extends string, V>(name: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [P in K]?: V });
}

/** Members that other members of a union have: absent, and readable as such. */
export type Without<K extends string> = { readonly [P in K]?: undefined };
