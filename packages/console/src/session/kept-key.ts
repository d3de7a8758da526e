/** Keeps an API key in the session storage of this tab. A Firebase user is kept by Firebase's own library. */

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
