/** The changes of one moment, grouped by document: one message reports a document to all its targets. */

import { fromMicros } from '@cairn/local-kit/wire/timestamp';
import { parseDocument } from '../../model/resource-name.ts';
import type { StoredDocument } from '../../storage/document-storage.ts';
import { encodeFound } from '../calls/read.ts';
import type { Database } from '../database.ts';
import type { Target, TargetChange } from './target.ts';

interface DocumentChanges {
  stored: StoredDocument | undefined;
  readonly shownTo: number[];
  readonly goneFrom: number[];
}

export class ChangeSet {
  readonly #documents = new Map<string, DocumentChanges>();

  get empty(): boolean {
    return this.#documents.size === 0;
  }

  add(target: Target, changes: readonly TargetChange[]): void {
    for (const { name, stored } of changes) {
      const entry = this.#at(name);
      if (stored) {
        entry.stored = stored;
        entry.shownTo.push(target.id);
      } else entry.goneFrom.push(target.id);
    }
  }

  /** A requested document that does not exist. */
  addMissing(target: Target, names: readonly string[]): void {
    for (const name of names) this.#at(name).goneFrom.push(target.id);
  }

  /** `ListenResponse`s, without those of the read time. */
  *messages(database: Database, readTime: number): Generator<object> {
    for (const [document, { stored, shownTo, goneFrom }] of this.#documents) {
      if (stored) {
        yield {
          documentChange: {
            document: encodeFound(stored, undefined),
            targetIds: shownTo,
            removedTargetIds: goneFrom,
          },
        };
        continue;
      }
      const exists = database.get({ name: document, segments: parseDocument(document).segments });
      const removal = { document, removedTargetIds: goneFrom, readTime: fromMicros(readTime) };
      // It exists and left the target: its content need not be sent.
      yield exists ? { documentRemove: removal } : { documentDelete: removal };
    }
  }

  #at(name: string): DocumentChanges {
    let entry = this.#documents.get(name);
    if (!entry) {
      entry = { stored: undefined, shownTo: [], goneFrom: [] };
      this.#documents.set(name, entry);
    }
    return entry;
  }
}
