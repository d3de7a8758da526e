/**
 * Where the cloud of a data directory is reached while it runs, for whoever works on the same machine and knows only the
 * directory (the command line). Readable by its owner only, since it holds the development key.
 */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Address {
  readonly gateway: string;
  readonly apiKey: string;
}

const FILE = 'address.json';

/**
 * Written whole or not at all. A cloud that is killed leaves it; the next one writes its own over it.
 *
 * @returns takes it away again
 */
export function writeAddress(dir: string, { gateway, apiKey }: Address): () => void {
  const file = join(dir, FILE);
  writeFileSync(`${file}.new`, `${JSON.stringify({ gateway, apiKey })}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return () => rmSync(file, { force: true });
}
