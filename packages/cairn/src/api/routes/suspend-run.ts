/** `POST /v1/runs/{id}/suspend` and `/continue`: suspend and continue a run. */
import { continueRun, suspendRun } from '../../operations/suspend-run.ts';
import type { ChangeHandler } from '../route.ts';
import { iso } from '../views/values.ts';
import { assertOwnRun, runOf } from './own-run.ts';

export const suspend: ChangeHandler<'POST /v1/runs/{id}/suspend'> = {
  before: assertOwnRun,
  async work(call) {
    const suspension = await suspendRun(call.deps.start, { ...runOf(call), ...call.body });
    return { status: 200, body: { ...suspension, requestedAt: iso(suspension.requestedAt) } };
  },
};

export const continueSuspended: ChangeHandler<'POST /v1/runs/{id}/continue'> = {
  before: assertOwnRun,
  async work(call) {
    const continued = await continueRun(call.deps.start, { ...runOf(call), reason: call.body.reason });
    return { status: 200, body: { ...continued } };
  },
};
