/** Indexes of a server, which may be redeclared while it runs. Pure. */
import {
  AUTOMATIC_INDEXES,
  type FieldIndexes,
  type IndexConfig,
  type IndexesFile,
  readIndexConfig,
} from './index-config.ts';

export class DeclaredIndexes implements IndexConfig {
  #current: IndexConfig = AUTOMATIC_INDEXES;

  /** @throws Error with the problem of the declaration, and keeps the previous one */
  declare(file: IndexesFile | undefined): void {
    this.#current = file ? readIndexConfig(file) : AUTOMATIC_INDEXES;
  }

  get enforced(): boolean {
    return this.#current.enforced;
  }

  get fingerprint(): string {
    return this.#current.fingerprint;
  }

  get expiry(): IndexConfig['expiry'] {
    return this.#current.expiry;
  }

  composites(collectionId: string): ReturnType<IndexConfig['composites']> {
    return this.#current.composites(collectionId);
  }

  vectors(collectionId: string): ReturnType<IndexConfig['vectors']> {
    return this.#current.vectors(collectionId);
  }

  field(collectionId: string, path: Parameters<IndexConfig['field']>[1]): FieldIndexes {
    return this.#current.field(collectionId, path);
  }

  isExempt(collectionId: string, field: string): boolean {
    return this.#current.isExempt(collectionId, field);
  }
}
