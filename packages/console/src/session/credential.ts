/**
 * What proves who looks, and where it is kept: an API key in the storage of this tab, which ends with it. A Firebase user
 * is kept by Firebase's own library.
 */

/** Asked for with each request: an ID token lives an hour and is renewed. */
export type Credential = () => Promise<string>;

const KEPT = 'cairn.api-key';

export function keptKey(): string | undefined {
  return sessionStorage.getItem(KEPT) ?? undefined;
}

export function keepKey(key: string): void {
  sessionStorage.setItem(KEPT, key);
}

export function forgetKey(): void {
  sessionStorage.removeItem(KEPT);
}
