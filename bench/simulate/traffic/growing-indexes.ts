/** Finds a document's entries with a growing value in the deployed composite indexes. */
import { readFileSync } from 'node:fs';
import { Timestamp } from '@google-cloud/firestore';
import type { Range } from './profile.ts';

interface Index {
  readonly collectionGroup: string;
  readonly fields: readonly { readonly fieldPath: string }[];
}

export interface Entry extends Range {
  /** All values of the entry, to detect changes. */
  readonly text: string;
}

export class GrowingIndexes {
  readonly #byCollection = new Map<string, string[][]>();

  /** @param file a `firestore.indexes.json` */
  constructor(file: string) {
    const { indexes } = JSON.parse(readFileSync(file, 'utf8')) as { indexes: Index[] };
    for (const { collectionGroup, fields } of indexes) {
      const known = this.#byCollection.get(collectionGroup) ?? [];
      known.push(fields.map(({ fieldPath }) => fieldPath));
      this.#byCollection.set(collectionGroup, known);
    }
  }

  has(collection: string): boolean {
    return this.#byCollection.has(collection);
  }

  /** Skips indexes of which the document lacks a field, or whose last field is not a time. */
  entriesOf(collection: string, document: Readonly<Record<string, unknown>>): Entry[] {
    return (this.#byCollection.get(collection) ?? []).flatMap((fields) => {
      const values = fields.map((field) => document[field]);
      if (values.some((value) => value === undefined || (Array.isArray(value) && value.length === 0)))
        return [];
      if (!(values.at(-1) instanceof Timestamp)) return [];
      return [
        { index: `${collection}: ${fields.join(', ')}`, by: byOf(fields), text: JSON.stringify(values) },
      ];
    });
  }
}

function byOf(fields: readonly string[]): Range['by'] {
  if (fields.includes('shard')) return 'shard';
  return fields.includes('tenantId') ? 'tenant' : 'all';
}
