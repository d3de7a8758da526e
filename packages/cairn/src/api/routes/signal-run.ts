/** `POST /v1/runs/{id}/signals`: sends a signal to one run, which waits for it or soon will. */
import { signalDataText, signalRun } from '../../operations/events/signal-run.ts';
import type { ChangeHandler } from '../route.ts';
import { MAX_EVENT_BODY_BYTES } from './deliver-event.ts';
import { assertOwnRun, runOf } from './own-run.ts';

export const signal: ChangeHandler<'POST /v1/runs/{id}/signals'> = {
  maxBodyBytes: MAX_EVENT_BODY_BYTES,
  async before(sent) {
    signalDataText(sent.body);
    await assertOwnRun(sent);
  },
  async work(sent, requestId) {
    const { start, registry } = sent.deps;
    const signalId = `s.${requestId}`;
    const signalled = await signalRun({ ...start, registry }, { ...sent.body, ...runOf(sent), signalId });
    return { status: 200, body: { ...signalled } };
  },
};
