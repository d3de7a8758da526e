/** Brings stored index entries up to a configuration: at start, when the configuration changed since they were made. */
import type { IndexConfig } from '../model/index/index-config.ts';
import { entryDifference } from '../model/index/index-entries.ts';
import { parseDocument } from '../model/resource-name.ts';
import type { DocumentStorage } from '../storage/document-storage.ts';
import { decodeDocument } from '../wire/document-codec.ts';

export function reindex(storage: DocumentStorage, indexes: IndexConfig): void {
  const numbers = new Map<string, number>();
  for (const name of storage.databaseNames()) numbers.set(name, storage.databaseNumber(name));
  storage.indexBy(indexes.fingerprint, ({ body }) => {
    const { name, fields } = decodeDocument(body);
    const { database, segments } = parseDocument(name);
    const document = { database: numbers.get(database) as number, segments };
    return entryDifference(indexes, document, { before: undefined, after: fields }).added;
  });
}
