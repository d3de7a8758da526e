/** JSON of files that `init` reads and writes. Pure. */

export function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

export function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
