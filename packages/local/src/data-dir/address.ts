/**
 * Connection file of a running cloud in its data directory, for programs on the same machine that know only the
 * directory (the command line). Readable by its owner only, because it has the development key.
 */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Address {
  readonly gateway: string;
  readonly apiKey: string;
}

const FILE = 'address.json';

/**
 * Atomic. A killed cloud leaves the file, which the next one replaces.
 *
 * @returns a function that deletes it
 */
export function writeAddress(dir: string, { gateway, apiKey }: Address): () => void {
  const file = join(dir, FILE);
  writeFileSync(`${file}.new`, `${JSON.stringify({ gateway, apiKey })}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return () => rmSync(file, { force: true });
}
