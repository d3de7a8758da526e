/** An event as the world gets it (docs/events.md). Pure. */
import { optional } from '../../core/optional.ts';
import type { RunEvent } from '../../core/run/events.ts';
import { readable } from '../../core/run/readable.ts';
import type { RunState } from '../../core/run/state.ts';
import type { BusMessage } from '../../ports/runs/event-bus.ts';

/** Run members of a message. */
export type PublishedRun = Pick<RunState, 'id' | 'tenantId' | 'type' | 'traceId'>;

/**
 * The event as `GET /v1/runs/{id}/events` shows it. Outputs are not included.
 *
 * @param traceparent the run's span in W3C trace context, if a collector is configured
 */
export function messageOf(
  { id, tenantId, type, traceId }: PublishedRun,
  event: RunEvent,
  traceparent?: string,
): BusMessage {
  return {
    orderingKey: id,
    attributes: {
      runId: id,
      seq: String(event.seq),
      type: event.type,
      tenantId,
      workflow: type,
      traceId,
      ...optional('traceparent', traceparent),
    },
    text: JSON.stringify(readable(event)),
  };
}
