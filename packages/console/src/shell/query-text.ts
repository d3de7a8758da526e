/** The query of an address with some of its values changed. Pure; the address itself is `address.ts`'s. */

/** A value that is undefined or empty is left out, so that the same view has one address. */
export type QueryChanges = Readonly<Record<string, string | undefined>>;

/** @param search with or without `?`; answers likewise without, in the order in which the names came */
export function changedQuery(search: string, changes: QueryChanges): string {
  const query = new URLSearchParams(search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') query.delete(name);
    else query.set(name, value);
  }
  return query.toString();
}
