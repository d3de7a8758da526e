/** The refusals of a request for what its idempotency key was used for before; the same words wherever keys are taken. */
import type { ExistingDecision } from '../core/decisions/idempotency.ts';
import { CairnError } from '../core/errors.ts';

type RefusedKey = Extract<ExistingDecision['kind'], 'conflict' | 'exhausted' | 'foreign_tenant'>;

/** IDEMPOTENCY_CONFLICT or IDEMPOTENCY_KEY_REUSED. */
export function refusedKey(kind: RefusedKey): CairnError {
  if (kind === 'exhausted')
    return new CairnError('IDEMPOTENCY_CONFLICT', 'every attempt with this idempotency key failed');
  // The same words as for any other request, so that no tenant learns of another's record.
  return new CairnError('IDEMPOTENCY_KEY_REUSED', 'this idempotency key was used with a different request', {
    field: 'Idempotency-Key',
  });
}
