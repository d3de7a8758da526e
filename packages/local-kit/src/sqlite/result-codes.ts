/** Result codes in SQLite's errors. Source: https://www.sqlite.org/rescode.html */
export const BUSY = 5;
export const CORRUPT = 11;
export const NOT_A_DATABASE = 26;

/** The primary code, which is the last byte of an extended code. Undefined if the error is not from SQLite. */
export function resultCode(error: unknown): number | undefined {
  const { errcode } = error as { readonly errcode?: number };
  return errcode === undefined ? undefined : errcode & 0xff;
}
