/** The databases of all projects on one server, created on first use. */
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

  /** Names of the stored databases of one project, or of all projects. */
  names(projectId?: string): readonly string[] {
    const all = this.#options.storage.databaseNames();
    return projectId === undefined ? all : all.filter((name) => name.startsWith(`projects/${projectId}/`));
  }

  /** Call after the stored state of a database, by default of all, was replaced. */
  forget(name?: string): void {
    if (name === undefined) this.#open.clear();
    else this.#open.delete(name);
  }
}
