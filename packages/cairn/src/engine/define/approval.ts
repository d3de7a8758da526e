/** The question of an approval and its result for the workflow. Types only. */
import type { Json } from '../../core/encoding/json.ts';

/** Question of an approval. A string is a question without details. */
export type Question =
  | string
  | {
      readonly question: string;
      readonly details?: Json;
      /** People or groups to ask: up to 20 names of up to 100 characters, shown with the question. Any operator may answer. */
      readonly to?: readonly string[];
    };

export interface ApprovedDecision {
  readonly decision: 'approve' | 'approve_with_waiver';
  /** Note; for a waiver, the reason. */
  readonly note?: string;
  /** Actor of the decision; absent if `onExpiry` approved it. */
  readonly by?: string;
}

/** Output of an approved approval. `data` is what the schema of the approval returned. */
export type Approved<D = undefined> = ApprovedDecision &
  ([D] extends [undefined] ? unknown : { readonly data: D });
