/**
 * Owns the idempotency keys of outside actions: which two calls are the same action. Stable over attempts, drives, resumes
 * and replays, since nothing of a run but the root of its lineage is in it.
 */
import { sha256Hex } from '../encoding/hash.ts';
import { canonicalJson } from '../encoding/json.ts';

export interface EffectPlace {
  readonly rootRunId: string;
  readonly stepId: string;
  readonly itemKey?: string | undefined;
  readonly revision: number;
  readonly capabilityId: string;
  /** The author's own key, or which call of this capability by the body it is, from 1. */
  readonly call: string | number;
  /** It is the step's compensation that asks. */
  readonly undo?: boolean;
  /** The replay or fork that calls again where its lineage has already called (E4, E6). */
  readonly scope?: string | undefined;
}

/** Raised when the layout below changes. */
const LAYOUT = 1;

/** 64 hex digits: what the receiver gets as idempotency key, and what the rows are named by. */
export function effectKey(place: EffectPlace): string {
  const { rootRunId, stepId, itemKey, revision, capabilityId, call, undo, scope } = place;
  return sha256Hex(
    canonicalJson({
      layout: LAYOUT,
      rootRunId,
      stepId,
      itemKey,
      revision,
      capabilityId,
      call,
      undo: undo ? true : undefined,
      scope,
    }),
  );
}
