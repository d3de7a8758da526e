/** The listening streams of this server, which end when its data is replaced. */
import { Code, StatusError } from '../../model/status.ts';

export class Listeners {
  readonly #ends = new Set<(why: StatusError) => void>();

  /** Returns a function that removes it. */
  join(end: (why: StatusError) => void): () => void {
    this.#ends.add(end);
    return () => this.#ends.delete(end);
  }

  get count(): number {
    return this.#ends.size;
  }

  /** Clients reconnect immediately and get all documents again. */
  cut(): void {
    const why = new StatusError(Code.UNAVAILABLE, 'The documents of this server were replaced.');
    for (const end of [...this.#ends]) end(why);
    this.#ends.clear();
  }
}
