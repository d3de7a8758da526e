/** Rebuilds stored index entries at the start if the configuration has changed. */
import type { IndexConfig } from '../model/index/index-config.ts';
import { entryDifference } from '../model/index/index-entries.ts';
import { parseDocument } from '../model/resource-name.ts';
import type { DocumentStorage } from '../storage/document-storage.ts';
import { decodeDocument } from '../wire/document-codec.ts';

export function reindex(storage: DocumentStorage, indexes: IndexConfig): void {
  const numbers = new Map<string, number>();
  const listed = new Map<number, ReadonlySet<string>>();
  for (const name of storage.databaseNames()) {
    const number = storage.databaseNumber(name);
    numbers.set(name, number);
    listed.set(number, new Set(storage.listedGroups(number)));
  }
  storage.indexBy(indexes.fingerprint, ({ body }) => {
    const { name, fields } = decodeDocument(body);
    const { database, segments } = parseDocument(name);
    const number = numbers.get(database) as number;
    const isListed = listed.get(number)?.has(segments.at(-2) as string) ?? false;
    const document = { database: number, segments, isListed };
    return entryDifference(indexes, document, { before: undefined, after: fields }).added;
  });
}
