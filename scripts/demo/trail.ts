/** Prints the progress of the demo for people. */
import type { RunEvent } from '../../packages/cairn/src/core/run/events.ts';

export function say(line: string): void {
  console.log(`  ${line}`);
}

/** Prints the journal, one line per event, with seconds since the first. */
export function trail(events: readonly RunEvent[]): void {
  const began = events[0]?.at ?? 0;
  console.log('\nThe journal of the run:\n');
  for (const event of events) {
    const seconds = ((event.at - began) / 1_000).toFixed(2).padStart(7);
    console.log(`  ${String(event.seq).padStart(3)} ${seconds} s  ${event.type.padEnd(18)} ${detail(event)}`);
  }
  console.log('');
}

function detail({ type, data, writer, actor }: RunEvent): string {
  const epoch = writer ? `epoch ${writer.epoch}` : '';
  switch (type) {
    case 'step_succeeded':
      return `${data.stepId} (attempt ${data.attempt}, ${data.durationMs} ms${epoch && `, ${epoch}`})`;
    case 'step_started':
      return `${data.stepId} (${epoch})`;
    case 'step_skipped':
      return `${data.stepId} (${data.reason})`;
    case 'effect_attempted':
      return `${data.capabilityId} by ${data.stepId} (attempt ${data.attempt}, ${epoch})`;
    case 'effect_settled':
      return `${data.capabilityId}: ${data.outcome}${data.by === undefined ? '' : ` (by ${data.by})`}`;
    case 'wait_opened':
      return `${data.wait.execution.stepId} asks a person`;
    case 'wait_resolved':
      return `${data.decision ?? 'answered'} by ${actor}`;
    case 'run_suspended':
      return data.status;
    case 'run_claimed':
      return `a worker takes the lease (${epoch})`;
    case 'orphan_detected':
      return `its worker stopped sending heartbeats (epoch ${data.epoch})`;
    case 'run_resumed':
      return data.reason;
    default:
      return '';
  }
}
