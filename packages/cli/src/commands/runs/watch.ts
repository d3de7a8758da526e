/** `runs watch`: the events of a run as they happen, until it has ended. */
import { Refusal, type RunEvent, readUndecidable, Unreachable } from '@cairn/client';
import type { CommandContext } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit.ts';
import { statusTone } from '../../render/style.ts';
import { clean } from '../../render/width.ts';
import { waitList } from '../../views/run-page.ts';
import { timelineLine } from '../../views/timeline.ts';
import { runCommand } from './named.ts';

const LAST_SEQ = 9_999_999_999;

export const watchRun = runCommand({
  name: 'runs watch',
  summary: 'Follow a run until it ends; exit code 0 completed, 1 failed, 6 cancelled',
  details: 'Reconnects without losing events. With --json, prints one line for each event.',
  options: {
    after: {
      type: 'number',
      value: 'SEQ',
      range: [0, LAST_SEQ],
      help: 'only events after this one (default 0: all)',
    },
  },
  examples: [
    ['runs watch last', 'from its first event'],
    ['runs watch last --json | jq .type', 'one event a line, for a script'],
  ],
  async run(context, id, { options }) {
    return watch(context, id, options.after ?? 0);
  },
});

const ENDS: Readonly<Record<string, ExitCode>> = {
  completed: EXIT.ok,
  failed: EXIT.failed,
  cancelled: EXIT.cancelled,
};

/**
 * Prints every event after `after`.
 *
 * @returns the exit code for the end of the run
 */
export async function watch(context: CommandContext, runId: string, after: number): Promise<ExitCode> {
  const { api, out, notes } = context;
  const { createdAt } = await api.get('/v1/runs/{id}', { params: { id: runId } });
  for await (const followed of api.follow(runId, { after })) {
    switch (followed.kind) {
      case 'event':
        out.print(eventLine(context, followed.event, createdAt));
        if (followed.event.type === 'run_suspended') await printWaits(context, runId);
        break;
      case 'again':
        if (!out.json)
          notes.print(notes.style.dim(`      (connection lost: ${clean(followed.why)}; reconnecting)\n`));
        break;
      case 'end':
        if (!out.json) notes.print(`${notes.style.paint(statusTone(followed.status), followed.status)}\n`);
        return ENDS[followed.status] ?? EXIT.failed;
    }
  }
  return EXIT.interrupted;
}

function eventLine({ out }: CommandContext, event: RunEvent, createdAt: string): string {
  return out.json ? `${JSON.stringify(event)}\n` : timelineLine(event, createdAt, out);
}

/** Prints the open waits, each with the command that answers it. A failed read of them does not end the watch. */
async function printWaits({ api, out, notes, world }: CommandContext, runId: string): Promise<void> {
  if (out.json || !world.stderr.isTty) return;
  try {
    const run = await api.get('/v1/runs/{id}', { params: { id: runId } });
    const isUndecidable = await readUndecidable(api, run);
    notes.print(waitList({ run, isUndecidable }, api.now(), notes));
  } catch (error) {
    if (!(error instanceof Refusal || error instanceof Unreachable)) throw error;
    notes.print(notes.style.dim(`      (its waits could not be read: ${clean(error.message)})\n`));
  }
}
