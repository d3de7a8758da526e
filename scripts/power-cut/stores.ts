/** The two kinds of storage of the local cloud, in one folder. */
import { join } from 'node:path';
import { openSqliteStorage } from '../../packages/local-firestore/src/storage/sqlite-storage.ts';
import { GroupedDatabase } from '../../packages/local-kit/src/sqlite/grouped-database.ts';

const SQL = { add: 'INSERT INTO rows VALUES (?)', count: 'SELECT count(*) AS n FROM rows' };

export interface Stores {
  commitDocument(at: number, bytes: number): Promise<void>;
  addRow(bytes: number): void;
  /** Number of readable documents. */
  documents(): number;
  rows(): number;
  close(): void;
}

/** @throws DamagedDataError for files from which an acknowledged commit is missing */
export function openStores(folder: string, sync: boolean): Stores {
  const documents = openSqliteStorage(join(folder, 'firestore.sqlite'), { sync });
  const database = documents.databaseNumber('projects/p/databases/(default)');
  const grouped = new GroupedDatabase({
    storage: { kind: 'sqlite', file: join(folder, 'tasks.sqlite'), sync },
    schema: 'CREATE TABLE IF NOT EXISTS rows (value BLOB NOT NULL) STRICT',
    sql: SQL,
    apply: () => undefined,
  });
  const key = (at: number) => Buffer.from([1, at]);
  return {
    async commitDocument(at, bytes) {
      const times = { createTime: at + 1, updateTime: at + 1 };
      const entries = { added: [key(at)], removed: [] };
      const body = Buffer.alloc(bytes, at);
      documents.apply(database, at + 1, [
        { kind: 'put', id: undefined, key: key(at), body, ...times, entries },
      ]);
      await documents.durable();
    },
    addRow: (bytes) => void grouped.statements.add.run(Buffer.alloc(bytes, 1)),
    documents: () => documents.countEntries({ from: Buffer.alloc(0), to: undefined }),
    rows: () => Number(grouped.statements.count.get()?.n),
    close() {
      documents.close();
      grouped.close();
    },
  };
}
