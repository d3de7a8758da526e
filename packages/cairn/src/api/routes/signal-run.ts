/** `POST /v1/runs/{id}/signals`: sends a signal to one run, which waits for it or soon will. */
import { signalDataText, signalRun } from '../../operations/events/signal-run.ts';
import type { ChangeHandler } from '../route.ts';
import { MAX_EVENT_BODY_BYTES } from './deliver-event.ts';
import { assertOwnRun, runOf } from './own-run.ts';

export const signal: ChangeHandler<'POST /v1/runs/{id}/signals'> = {
  maxBodyBytes: MAX_EVENT_BODY_BYTES,
  async before(call) {
    signalDataText(call.body);
    await assertOwnRun(call);
  },
  async work(call, requestId) {
    const { start, registry } = call.deps;
    const signalId = `s.${requestId}`;
    const signalled = await signalRun({ ...start, registry }, { ...call.body, ...runOf(call), signalId });
    return { status: 200, body: { ...signalled } };
  },
};
