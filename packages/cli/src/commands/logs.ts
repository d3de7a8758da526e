/** `logs`: the lines that steps of a run logged, and with `--follow` those that come until it ends. */
import type { Answer } from 'cairn/api/calls';
import { command } from '../arguments/command.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit.ts';
import { logText } from '../views/logs.ts';
import { tellMore } from './listed.ts';
import { RUN, runIdOf } from './runs/named.ts';

const LEVELS = ['info', 'warn', 'error'] as const;
const USUAL_LINES = 1_000;
/** As many as are kept of a run. */
const MOST_LINES = 20_000;
/** Lines of a running body are stored within three seconds: asking more often shows nothing earlier. */
const ASK_EVERY_MS = 2_000;
const A_PAGE = '100';

type LogLine = Answer<'LogLine'>;

export const logs = command({
  name: 'logs',
  summary: 'Print the lines that the steps of a run logged',
  details:
    'Lines of level info, warn and error are kept beside the run, within bounds; the log of the process has all of them. With --json, prints one line for each.',
  args: { run: RUN },
  options: {
    follow: { type: 'flag', short: 'f', help: 'go on until the run ends' },
    step: { type: 'text', value: 'STEP', help: 'only lines of this step, or of one item: STEP[KEY]' },
    level: { type: 'text', choices: LEVELS, help: 'only lines of this level or a higher one' },
    limit: {
      type: 'number',
      value: 'N',
      range: [1, MOST_LINES],
      help: `the first N lines, without --follow (default ${USUAL_LINES})`,
    },
  },
  examples: [
    ['logs last', 'the newest run'],
    ['logs -f last --level warn', 'warnings and errors, until it ends'],
    ['logs last --step charge --json', 'one line of JSON for each'],
  ],
  async run(context, { args, options }) {
    const id = await runIdOf(context, args.run);
    const { follow, limit = USUAL_LINES, ...filter } = options;
    const { createdAt } = await context.api.get('/v1/runs/{id}', { params: { id } });
    const tell = (lines: readonly LogLine[]) => print(context, lines, createdAt);
    if (follow) return followLogs(context, { id, filter, tell });
    const { items, more } = await context.api.list('/v1/runs/{id}/logs', {
      params: { id },
      query: filter,
      limit,
    });
    tell(items);
    if (items.length === 0 && !context.out.json) context.notes.print('No lines.\n');
    tellMore(context, more);
    return EXIT.ok;
  },
});

interface Following {
  readonly id: string;
  readonly filter: { readonly step: string | undefined; readonly level: string | undefined };
  readonly tell: (lines: readonly LogLine[]) => void;
}

async function followLogs({ api, world }: Context, { id, filter, tell }: Following): Promise<undefined> {
  for (let cursor: string | undefined; ; ) {
    const query = { ...filter, limit: A_PAGE, cursor };
    const page = await api.get('/v1/runs/{id}/logs', { params: { id }, query });
    tell(page.items);
    cursor = page.after ?? cursor;
    if (page.next !== undefined) continue;
    if (page.ended) return undefined;
    await world.sleep(ASK_EVERY_MS, world.interrupted);
  }
}

function print({ out }: Context, lines: readonly LogLine[], createdAt: string): void {
  for (const line of lines) out.print(out.json ? `${JSON.stringify(line)}\n` : logText(line, createdAt, out));
}
