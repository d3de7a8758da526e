/**
 * Outcomes of what was sent from a part that has left the page since: whichever page is open shows them. Independent of React.
 */

import { Observable } from '../api/observable.ts';

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

export class LateOutcomes<T extends { readonly key: string }> extends Observable<readonly T[]> {
  constructor() {
    super([]);
  }

  /** One of the same key is replaced. */
  add(outcome: T): void {
    this.become([...this.shown().filter(({ key }) => key !== outcome.key), outcome].slice(-MOST));
  }

  readonly dismiss = (): void => this.become([]);
}
