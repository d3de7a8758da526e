/** `POST /v1/events`: delivers an event to whoever waits for it, or keeps it for whoever will. */
import { z } from 'zod';
import { deliverEvent, eventDataText } from '../../operations/events/deliver-event.ts';
import { assertRole, type Caller } from '../auth.ts';
import type { ApiDeps } from '../deps.ts';
import { answerOnce, principalOf, readMutation } from '../mutation.ts';
import { iso } from '../views/values.ts';

/** The largest data an event can have (256 KiB), with room for names and for JSON that is not canonical. */
export const MAX_EVENT_BODY_BYTES = 320 * 1024;

export const EventBody = z.strictObject({ event: z.string(), key: z.string(), data: z.unknown().optional() });

export async function deliverFromApi(deps: ApiDeps, caller: Caller, request: Request): Promise<Response> {
  assertRole(caller, 'submitter');
  const mutation = await readMutation(request, EventBody, MAX_EVENT_BODY_BYTES);
  // Before anything is kept: what is refused as it stands leaves nothing behind.
  eventDataText(mutation.body);
  const { start, registry, rendezvous } = deps;
  return answerOnce(deps, caller, mutation, async (requestId) => {
    const { keptUntil, refused, ...told } = await deliverEvent(
      { ...start, registry, rendezvous },
      {
        ...mutation.body,
        tenantId: caller.tenantId,
        eventId: `e.${requestId}`,
        actor: principalOf(caller),
      },
    );
    const body = {
      ...told,
      refused: refused.map((refusal) => ({ ...refusal })),
      ...(keptUntil === undefined ? {} : { keptUntil: iso(keptUntil) }),
    };
    return { status: 200, body };
  });
}
