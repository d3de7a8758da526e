/** Outcomes of requests whose sender has left the page since, shown by the page that is open. Independent of React. */

import { Observable } from '../api/observable.ts';

export interface RefusedApproval {
  /** Identifies the question. */
  readonly key: string;
  readonly runId: string;
  readonly type: string;
  readonly question: string;
  readonly why: string;
}

/** Outcome of a form that was closed while it was sent. */
export interface ClosedForm {
  /** Identifies the form. */
  readonly key: string;
  /** Title of the form. */
  readonly title: string;
  /** Address of the page that had the form. */
  readonly path: string;
  /** Undefined if it succeeded. */
  readonly error: unknown;
  /** The run that it started or changed. */
  readonly runId: string | undefined;
}

/** Limit of the outcomes; the newest are kept. */
const MOST = 10;

export class LateOutcomes<T extends { readonly key: string }> extends Observable<readonly T[]> {
  constructor() {
    super([]);
  }

  /** Adds the outcome, or replaces one of the same key. */
  add(outcome: T): void {
    this.become([...this.shown().filter(({ key }) => key !== outcome.key), outcome].slice(-MOST));
  }

  readonly dismiss = (): void => this.become([]);
}
