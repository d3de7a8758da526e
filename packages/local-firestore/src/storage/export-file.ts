/** Checks a file before its content replaces the documents of a server. */
import { DatabaseSync } from 'node:sqlite';
import { BUSY, CORRUPT, NOT_A_DATABASE, resultCode } from '@cairn/local-kit/sqlite/result-codes';
import { DATA_FORMAT, quickCheck } from '@cairn/local-kit/sqlite/witness';

/** The file cannot replace the documents of a server. The message has the reason and advice. */
export class ExportFileError extends Error {
  override readonly name = 'ExportFileError';
}

const REASONS: Readonly<Record<number, string>> = {
  [BUSY]: 'is in use. If it is the data of a running local cloud, export that one.',
  [CORRUPT]: 'is damaged.',
  [NOT_A_DATABASE]: 'is not an SQLite database.',
};

/** Columns of a table in order; an import relies on this order. */
export function columnsOf(db: DatabaseSync, table: string): string {
  const columns = db.prepare('SELECT name FROM pragma_table_info(?) ORDER BY cid').all(table);
  return columns.map(({ name }) => name).join();
}

/**
 * Checks that a file is an undamaged export of a server with these tables, in a format that this version knows.
 *
 * @param tables columns by table, as {@link columnsOf} returns them
 * @throws ExportFileError
 */
export function assertExportFile(file: string, tables: ReadonlyMap<string, string>): void {
  const refused = (reason: string) => new ExportFileError(`${file} ${reason}`);
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { readOnly: true });
    const format = Number(db.prepare('PRAGMA user_version').get()?.user_version);
    if (format > DATA_FORMAT)
      throw refused(
        `was exported by a later version of Cairn (format ${format}; this version knows ${DATA_FORMAT}).`,
      );
    for (const [table, columns] of tables)
      if (columnsOf(db, table) !== columns) throw refused('is not an export of a local Firestore.');
    const problem = quickCheck(db);
    if (problem !== undefined) throw refused(`is damaged: ${problem}`);
  } catch (error) {
    const code = resultCode(error);
    if (code === undefined) throw error;
    throw refused(REASONS[code] ?? `cannot be read as an export: ${(error as Error).message}`);
  } finally {
    db?.close();
  }
}
