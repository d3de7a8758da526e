/**
 * Owns the fingerprints that decide whether work is the same: that of a step's inputs (may its recorded output be reused?) and
 * that of a request (is it a repetition under the same key?).
 *
 * Must not: include anything that differs between a run and its successor, such as the run id, because a fork or a resume could
 * then reuse nothing.
 */
import { isSha256Hex, sha256Hex } from './hash.ts';
import { canonicalJson, type Json } from './json.ts';

export interface StepInputs {
  readonly type: string;
  readonly planVersion: number;
  readonly stepId: string;
  /** Key of the item, for an item of a map step. */
  readonly itemKey?: string | undefined;
  /** 1 for the first execution, one more for each time a person sent the step back. */
  readonly revision: number;
  /** Feedback given when the step was sent back. */
  readonly feedback?: Json | undefined;
  /** The run's input: its canonical JSON text or the SHA-256 of that text. Both give the same fingerprint. */
  readonly input: string;
  /** SHA-256 of the canonical output of each needed step, by the name under which the body sees it. */
  readonly needs: Readonly<Record<string, string>>;
}

/** Raised when the layout below changes, so that fingerprints of different layouts can never be equal. */
const LAYOUT = 1;

/** `inputsHash` of a step: equal exactly when the step would see the same type, version, item, feedback, input and needs. */
export function inputsHash(of: StepInputs): string {
  const input = isSha256Hex(of.input) ? of.input : sha256Hex(of.input);
  return sha256Hex(
    canonicalJson({
      layout: LAYOUT,
      type: of.type,
      planVersion: of.planVersion,
      stepId: of.stepId,
      itemKey: of.itemKey,
      revision: of.revision,
      feedback: of.feedback,
      input,
      needs: of.needs,
    }),
  );
}

/**
 * `requestHash` of an idempotency record.
 *
 * @param route method and path (or the name of the trigger): the same body sent to another route is another request
 */
export function requestHash(route: string, body: Json): string {
  return sha256Hex(canonicalJson({ route, body }));
}
