/**
 * The credential and its storage: an API key is kept in the session storage of this tab. A Firebase user
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
