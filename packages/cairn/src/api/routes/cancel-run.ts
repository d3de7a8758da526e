/** `POST /v1/runs/{id}/cancel`: ends a run, or asks its worker to. */
import { cancelRun } from '../../operations/cancel-run.ts';
import type { ChangeHandler } from '../route.ts';
import { iso } from '../views/values.ts';
import { assertOwnRun, runOf } from './own-run.ts';

export const cancel: ChangeHandler<'POST /v1/runs/{id}/cancel'> = {
  before: assertOwnRun,
  async work(call) {
    const { start, registry } = call.deps;
    const { reason, withoutUndo } = call.body;
    const cancellation = await cancelRun(
      { ...start, registry },
      { ...runOf(call), reason, stopKind: 'user', withoutUndo },
    );
    return { status: 200, body: { ...cancellation, requestedAt: iso(cancellation.requestedAt) } };
  },
};
