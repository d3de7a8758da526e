/** Refusals of approvals that were sent as their page was left: whichever page is open shows them. Independent of React. */

/** An approval that the API refused. */
export interface RefusedApproval {
  /** Names its question. */
  readonly key: string;
  readonly runId: string;
  readonly type: string;
  readonly question: string;
  readonly why: string;
}

export class LateRefusals {
  readonly #listeners = new Set<() => void>();
  #all: readonly RefusedApproval[] = [];

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly shown = (): readonly RefusedApproval[] => this.#all;

  /** One of the same question is replaced. */
  add(refused: RefusedApproval): void {
    this.#become([...this.#all.filter(({ key }) => key !== refused.key), refused]);
  }

  readonly dismiss = (): void => this.#become([]);

  #become(all: readonly RefusedApproval[]): void {
    this.#all = all;
    for (const listener of this.#listeners) listener();
  }
}
