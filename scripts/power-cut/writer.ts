/**
 * Commits to the storage of the local Firestore and of the local Cloud Tasks, and prints a line after each commit that was acknowledged. Its
 * system calls are what `npm run power-cut` works on.
 */
import { writeSync } from 'node:fs';
import { openStores } from './stores.ts';

const [folder = '', sync = ''] = process.argv.slice(2);
const stores = openStores(folder, sync === 'sync');
/** One commit above the size of log (32 MB) at which SQLite copies it into the database is among them. */
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
