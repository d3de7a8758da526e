/** The newest events of a run. The list of the API begins with the oldest; its stream begins wherever one likes. */
import type { CairnClient } from './client.ts';
import type { RunEventView } from './follow.ts';

/** @returns the newest `count` of those up to `head`, the oldest of them first */
export async function newestEvents(
  api: CairnClient,
  run: { readonly id: string; readonly head: number },
  count: number,
): Promise<RunEventView[]> {
  const { id, head } = run;
  if (count === 0) return [];
  if (head <= count) return (await api.list('/v1/runs/{id}/events', { params: { id }, limit: head })).items;
  const events: RunEventView[] = [];
  for await (const followed of api.follow(id, { after: head - count })) {
    if (followed.kind === 'event') events.push(followed.event);
    if (followed.kind === 'end' || events.length === count) break;
  }
  return events;
}
