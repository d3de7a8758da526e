/** `logs`: the log lines of a run's steps; with `--follow` also later lines until it ends, and the text that steps stream. */
import type { Answer } from 'cairn/api/calls';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { clean } from '../render/width.ts';
import { logText } from '../views/logs.ts';
import { isOver } from '../views/runs.ts';
import { StreamedPrint } from '../views/streamed.ts';
import { assertStep } from './did-you-mean.ts';
import { limitOption, noteMore } from './listed.ts';
import { runCommand } from './runs/named.ts';

const LEVELS = ['info', 'warn', 'error'] as const;
const DEFAULT_LINES = 1_000;
/** Maximum of lines that is kept for a run. */
const MAX_LINES = 20_000;

export const logs = runCommand({
  name: 'logs',
  summary: 'Print the lines that the steps of a run logged',
  details:
    'Lines of level info, warn and error are kept beside the run, within bounds; the log of the process has all of them. With --follow, text that steps stream is printed as it comes. With --json, prints one line for each.',
  options: {
    follow: { type: 'flag', short: 'f', help: 'continue until the run ends' },
    step: { type: 'text', value: 'STEP', help: 'only lines of this step, or of one item: STEP[KEY]' },
    level: { type: 'text', choices: LEVELS, help: 'only lines of this level or a higher one' },
    limit: limitOption({
      most: MAX_LINES,
      usual: DEFAULT_LINES,
      what: 'the first N lines, without --follow',
    }),
  },
  examples: [
    ['logs last', 'the newest run'],
    ['logs -f last --level warn', 'warnings and errors, until it ends'],
    ['logs last --step charge --json', 'one line of JSON for each'],
  ],
  async run(context, id, { options }) {
    const { follow, limit = DEFAULT_LINES, ...filter } = options;
    const { createdAt, status } = await context.api.get('/v1/runs/{id}', { params: { id } });
    if (filter.step !== undefined) await assertStep(context.api, id, filter.step);
    if (follow) return followLogs(context, { id, filter, createdAt, status });
    const { items, more } = await context.api.list('/v1/runs/{id}/logs', {
      params: { id },
      query: filter,
      limit,
    });
    for (const line of items) context.out.print(lineText(context, line, createdAt));
    if (items.length === 0 && !context.out.json) context.notes.print('No lines.\n');
    noteMore(context, more);
    return EXIT.ok;
  },
});

interface LogFollowing {
  readonly id: string;
  readonly filter: { readonly step: string | undefined; readonly level: string | undefined };
  readonly createdAt: string;
  readonly status: Answer<'Run'>['status'];
}

async function followLogs(
  context: CommandContext,
  { id, filter, createdAt, status }: LogFollowing,
): Promise<ExitCode | undefined> {
  const { api, out, notes } = context;
  const streamed = new StreamedPrint(createdAt, out);
  let isSilent = true;
  if (!out.json && !isOver(status) && !(await hasLines(context, id, filter)))
    notes.print(notes.style.dim(`No lines yet; waiting for those of ${id} until it ends.\n`));
  for await (const followed of api.followLogs(id, filter)) {
    isSilent &&= followed.kind === 'again' || followed.kind === 'end';
    switch (followed.kind) {
      case 'log':
        out.print(`${streamed.interrupt()}${lineText(context, followed.line, createdAt)}`);
        break;
      case 'text':
        out.print(out.json ? `${JSON.stringify(followed.line)}\n` : streamed.print(followed.line));
        break;
      case 'again':
        if (!out.json)
          notes.print(notes.style.dim(`      (connection lost: ${clean(followed.why)}; reconnecting)\n`));
        break;
      case 'end':
        out.print(streamed.interrupt());
        if (isSilent && !out.json) notes.print(`No lines; the run is ${clean(followed.status)}.\n`);
        return undefined;
    }
  }
  return EXIT.interrupted;
}

async function hasLines(
  { api }: CommandContext,
  id: string,
  filter: LogFollowing['filter'],
): Promise<boolean> {
  const { items } = await api.list('/v1/runs/{id}/logs', { params: { id }, query: filter, limit: 1 });
  return items.length > 0;
}

function lineText({ out }: CommandContext, line: Answer<'LogLine'>, createdAt: string): string {
  return out.json ? `${JSON.stringify(line)}\n` : logText(line, createdAt, out);
}
