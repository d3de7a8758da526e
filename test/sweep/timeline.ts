/** A performance as readable text: its calls, their answers, and the journal of each run. */
import { timelineOf as journalText } from '../../packages/cairn/src/testing/timeline.ts';
import type { Performance } from './performance.ts';

export function timelineOf({ world, calls, outside }: Performance): string {
  const runs = [...world.db.runs.values()].flatMap(({ snapshot, events }) => [
    `  ${snapshot.id} of ${snapshot.type}: ${snapshot.status}`,
    journalText(events).replace(/^/gm, '  '),
  ]);
  const answers = [...outside.answers].map(([name, answer]) => `  ${name} was answered ${answer}`);
  return [`  calls: ${calls.made.join(' ')}`, ...answers, ...runs].join('\n');
}
