/**
 * Outcomes of what was sent from a part that has left the page since: whichever page is open shows them. Independent of React.
 */

export interface RefusedApproval {
  /** Names its question. */
  readonly key: string;
  readonly runId: string;
  readonly type: string;
  readonly question: string;
  readonly why: string;
}

/** Outcome of a form that was closed while it was sent. */
export interface ClosedForm {
  /** Names the form. */
  readonly key: string;
  /** Title of the form. */
  readonly title: string;
  /** Address of the page that had the form. */
  readonly path: string;
  /** Undefined: it was done. */
  readonly error: unknown;
  /** The run that it started or changed. */
  readonly runId: string | undefined;
}

/** The newest are kept. */
const MOST = 10;

export class LateOutcomes<T extends { readonly key: string }> {
  readonly #listeners = new Set<() => void>();
  #all: readonly T[] = [];

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly shown = (): readonly T[] => this.#all;

  /** One of the same key is replaced. */
  add(outcome: T): void {
    this.#become([...this.#all.filter(({ key }) => key !== outcome.key), outcome].slice(-MOST));
  }

  readonly dismiss = (): void => this.#become([]);

  #become(all: readonly T[]): void {
    this.#all = all;
    for (const listener of this.#listeners) listener();
  }
}
