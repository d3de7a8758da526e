/** Changes values in the query of an address. Pure; `address.ts` owns the address itself. */

/** A value that is undefined or empty is left out, so that the same view has one address. */
export type QueryChanges = Readonly<Record<string, string | undefined>>;

/** @param search with or without `?`. Returns a query without `?`, with the names in their order */
export function changedQuery(search: string, changes: QueryChanges): string {
  const query = new URLSearchParams(search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') query.delete(name);
    else query.set(name, value);
  }
  return query.toString();
}
