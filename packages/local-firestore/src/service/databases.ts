/** The databases of one server, of all projects, created on first use. */
import { parseDatabase } from '../model/resource-name.ts';
import { Database, type DatabaseOptions } from './database.ts';

export class Databases {
  readonly #options: DatabaseOptions;
  readonly #open = new Map<string, Database>();

  constructor(options: DatabaseOptions) {
    this.#options = options;
  }

  get(name: string): Database {
    let database = this.#open.get(name);
    if (!database) {
      database = new Database(parseDatabase(name), this.#options);
      this.#open.set(name, database);
    }
    return database;
  }

  /** Call after the stored state of the databases was replaced. */
  forget(): void {
    this.#open.clear();
  }

  /** Deletes all documents of one database. */
  clearOne(name: string): void {
    this.#options.storage.clear(this.get(name).number);
    this.#open.delete(name);
  }

  /** Deletes all documents: of one project, or of all. */
  clear(projectId?: string): void {
    const { storage } = this.#options;
    for (const name of storage.databaseNames()) {
      if (projectId === undefined || name.startsWith(`projects/${projectId}/`)) {
        storage.clear(this.get(name).number);
        this.#open.delete(name);
      }
    }
  }
}
