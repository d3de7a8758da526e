/**
 * Commits to the storage of the local Firestore and the local Cloud Tasks, and prints a line after each acknowledged commit. `npm
 * run power-cut` traces its system calls.
 */
import { writeSync } from 'node:fs';
import { openStores } from './stores.ts';

const [folder = '', sync = ''] = process.argv.slice(2);
const stores = openStores(folder, sync === 'sync');
/** Includes a commit above the log size (32 MB) at which SQLite writes a checkpoint into the database. */
const SIZES = [
  ...Array<number>(12).fill(200),
  ...Array<number>(40).fill(850_000),
  ...Array<number>(12).fill(200),
];
for (const [i, bytes] of SIZES.entries()) {
  await stores.commitDocument(i, bytes);
  writeSync(1, `documents ${i + 1}\n`);
  if (bytes > 10_000) continue;
  stores.addRow(bytes);
  writeSync(1, `rows ${stores.rows()}\n`);
}
writeSync(1, 'end\n');
