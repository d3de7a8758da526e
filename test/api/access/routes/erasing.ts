/** A run for the tests of routes to erase, and a finished erasure. */
import {
  type Erasure,
  erasureId,
  NOTHING_GONE,
  tenantHash,
} from '../../../../packages/cairn/src/core/retention/erasure.ts';

export function erasureOf(tenantId: string): Erasure {
  return {
    id: erasureId(tenantId, 'gone'),
    scope: 'lineage',
    tenantHash: tenantHash(tenantId),
    roots: [],
    state: 'done',
    gone: NOTHING_GONE,
    requestedAt: 0,
    finishedAt: 1,
  };
}

/** The body with the repeated id of the run or tenant. */
export function confirmed(
  body: object | undefined,
  { id }: { readonly id?: string | undefined },
): object | undefined {
  return body && 'confirm' in body && id !== undefined ? { ...body, confirm: id } : body;
}
