/** Rows of the side-effect ledger as the engine writes them. */
import { type EffectRecord, effectIdOf } from '../../../packages/cairn/src/core/effects/effect.ts';
import { T0 } from '../support/run-fixture.ts';

export const KEY = 'a'.repeat(64);

export function row(changes: Partial<EffectRecord> = {}): EffectRecord {
  const { idempotencyKey = KEY, n = 1 } = changes;
  return {
    effectId: effectIdOf(idempotencyKey, n),
    idempotencyKey,
    n,
    tenantId: 'acme',
    rootRunId: 'run_1',
    runId: 'run_1',
    stepId: 'post',
    revision: 1,
    attempt: 1,
    epoch: 1,
    capabilityId: 'post.send',
    bindingId: 'post.send.http',
    bindingCallId: 'call-1',
    effectClass: 'external_action',
    replayPolicy: 'use_recorded_result',
    status: 'attempted',
    requestHash: 'b'.repeat(64),
    createdAt: T0,
    updatedAt: T0,
    ...changes,
  } as EffectRecord;
}
