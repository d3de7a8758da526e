/** The databases of one server, made on first use: projects and databases live side by side. */
import { parseDatabase } from '../model/resource-name.ts';
import type { DocumentStorage } from '../storage/document-storage.ts';
import { Database } from './database.ts';

export class Databases {
  readonly #storage: DocumentStorage;
  readonly #clock: () => number;
  readonly #open = new Map<string, Database>();

  constructor(storage: DocumentStorage, clock: () => number) {
    this.#storage = storage;
    this.#clock = clock;
  }

  get(name: string): Database {
    let database = this.#open.get(name);
    if (!database) {
      database = new Database(parseDatabase(name), this.#storage, this.#clock);
      this.#open.set(name, database);
    }
    return database;
  }

  /** Deletes all documents: of one project, or of all. */
  clear(projectId?: string): void {
    for (const name of this.#storage.databaseNames()) {
      if (projectId === undefined || name.startsWith(`projects/${projectId}/`)) {
        this.#storage.clear(this.get(name).number);
      }
    }
  }
}
