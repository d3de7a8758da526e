/** Names of a run on the command line: an id, its beginning, or `last`. */
import { closest } from '../../arguments/closest.ts';
import {
  type ArgumentSpecs,
  type CliCommand,
  type CommandSpec,
  command,
  type Given,
  type None,
  type OptionSpecs,
} from '../../arguments/command.ts';
import type { CommandContext } from '../../context.ts';
import { Declined, EXIT, type ExitCode } from '../../exit.ts';

export const RUN = {
  help: "id of the run, its first 6 characters or more, or 'last' for the newest",
} as const;

/** Required `--reason`; a command adds `required`. */
export const REASON = { type: 'text', value: 'TEXT', help: 'reason' } as const;

interface RunCommandSpec<A extends ArgumentSpecs, O extends OptionSpecs>
  extends Omit<CommandSpec<A, O>, 'run'> {
  run(context: CommandContext, id: string, given: Given<A, O>): Promise<ExitCode | undefined>;
}

/** A command about a run, which its first argument names. */
export function runCommand<const A extends ArgumentSpecs = None, const O extends OptionSpecs = None>({
  args,
  run,
  ...spec
}: RunCommandSpec<A, O>): CliCommand {
  return command<ArgumentSpecs, O>({
    ...spec,
    args: { run: RUN, ...args },
    run: async (context, given) =>
      run(context, await runIdOf(context, given.args.run ?? LAST), given as Given<A, O>),
  });
}

const LAST = 'last';

/** The beginning of an id, with or without `run_`. The API searches for ids from 6 characters on. */
const PREFIX = /^(?:run_)?([a-z2-7]{6,25})$/;

/** @throws Declined for `last` if there are no runs, for a prefix without exactly one run, and for an invalid id */
export async function runIdOf(context: CommandContext, word: string): Promise<string> {
  const [, prefix] = PREFIX.exec(word) ?? [];
  if (/^run_[a-z2-7]{1,5}$/.test(word))
    throw new Declined(
      `${word} is too short`,
      "Give the whole id, the first 6 characters or more after 'run_', or 'last' for the newest.",
      EXIT.notFound,
    );
  if (prefix !== undefined) return idBeginning(context, `run_${prefix}`);
  const { api } = context;
  // `external:…` names the owner of an effect without a run, in commands that accept it.
  if (word.startsWith('run_') || word.startsWith('external:')) return word;
  if (word !== LAST)
    throw new Declined(
      `'${word}' is no run id`,
      closest(word, [LAST]) === undefined
        ? `Give the ${RUN.help}. By another name a run is found with cairn runs search.`
        : `Did you mean '${LAST}'?`,
      EXIT.notFound,
    );
  const { items } = await api.list('/v1/runs', { limit: 1 });
  const [newest] = items;
  if (newest) return newest.id;
  throw new Declined('there are no runs yet', 'Start one: cairn runs start --help.', EXIT.notFound);
}

async function idBeginning({ api }: CommandContext, prefix: string): Promise<string> {
  const { items } = await api.get('/v1/search', { query: { q: prefix } });
  const ids = items.filter(({ by }) => by === 'run').map(({ run }) => run.id);
  const [only, ...others] = ids;
  if (only === undefined)
    throw new Declined(
      `no run id begins with ${prefix}`,
      'List runs with cairn runs list, or search by another name with cairn runs search.',
      EXIT.notFound,
    );
  if (others.length > 0)
    throw new Declined(
      `${ids.length} run ids begin with ${prefix}: ${ids.join(', ')}`,
      'Give more characters of the id.',
      EXIT.usage,
    );
  return only;
}
