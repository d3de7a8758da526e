/** A performance as a text to read: what was called when, and the journal of each run. */
import type { RunEvent } from '../../functions/src/core/run/events.ts';
import type { Performance } from './performance.ts';

export function timelineOf({ world, calls, outside }: Performance): string {
  const runs = [...world.db.runs.values()].flatMap(({ snapshot, events }) => [
    `  run ${snapshot.id} of ${snapshot.type}: ${snapshot.status}`,
    ...events.map((event) => `    ${lineOf(event, events[0]?.at ?? 0)}`),
  ]);
  const answers = [...outside.answers].map(([name, answer]) => `  ${name} was answered ${answer}`);
  return [`  calls: ${calls.made.join(' ')}`, ...answers, ...runs].join('\n');
}

function lineOf({ seq, at, type, writer, data }: RunEvent, since: number): string {
  const by = writer ? `epoch ${writer.epoch}` : 'outside';
  return `${seq}  +${at - since} ms  ${type}  (${by})  ${JSON.stringify(data)}`;
}
