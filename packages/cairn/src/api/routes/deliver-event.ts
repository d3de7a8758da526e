/** `POST /v1/events`: delivers an event to waiting runs, or buffers it. */
import { isoIf } from '../../core/run/readable.ts';
import { deliverEvent, eventDataText } from '../../operations/events/deliver-event.ts';
import type { ChangeHandler } from '../route.ts';

/** The largest event data (256 KiB), with room for names and for JSON that is not canonical. */
export const MAX_EVENT_BODY_BYTES = 320 * 1024;

export const deliver: ChangeHandler<'POST /v1/events'> = {
  maxBodyBytes: MAX_EVENT_BODY_BYTES,
  before: ({ body }) => eventDataText(body),
  async work({ deps, caller, body }, requestId) {
    const { keptUntil, refused, ...outcome } = await deliverEvent(deps, {
      ...body,
      tenantId: caller.tenantId,
      eventId: `e.${requestId}`,
      actor: caller.principal,
    });
    const delivered = {
      ...outcome,
      refused: refused.map((refusal) => ({ ...refusal })),
      keptUntil: isoIf(keptUntil),
    };
    return { status: 200, body: delivered };
  },
};
