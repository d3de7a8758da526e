/**
 * Owns the idempotency keys of external calls: calls with the same key are the same action. A key is stable over attempts,
 * dispatches, resumes and replays, because the only part of it that names a run is the root of its lineage.
 */

import { sha256Hex } from '../encoding/hash.ts';
import { canonicalJson } from '../encoding/json.ts';
import type { StepRef } from '../run/events.ts';

export interface EffectPlace extends StepRef {
  readonly rootRunId: string;
  readonly capabilityId: string;
  /** The author's own key, or the sequence number of this call among the body's calls of the capability, from 1. */
  readonly call: string | number;
  /** True if the compensation of the step makes the call. */
  readonly undo?: boolean;
  /** The replay or fork that calls again where its lineage has already called (E4, E6). */
  readonly scope?: string | undefined;
}

/** Raised when the layout below changes. */
const LAYOUT = 1;

/** 64 hex digits. Sent to the receiver as its idempotency key; part of the ids of the ledger rows. */
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
