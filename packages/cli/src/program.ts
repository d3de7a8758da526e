/** One call of the command line, from its arguments to its exit code. Owns the order: parse, connect, run, report errors. */
import type { CairnClient } from '@cairn/client';
import { apiOf } from './api/client.ts';
import { connect } from './api/connection.ts';
import { differentVersions } from './api/versions.ts';
import type { CliCommand } from './arguments/command.ts';
import { DEFAULT_COLUMNS, helpOf, helpOfGroup } from './arguments/help.ts';
import { type Parsed, parse } from './arguments/parse.ts';
import { COMMANDS } from './commands/all.ts';
import { CliOutput, type CommandContext } from './context.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { callOf } from './invocation.ts';
import { errorReport, withVersions } from './render/problem.ts';
import { styleFor } from './render/style.ts';
import type { World } from './world.ts';

/** @throws only for errors of this program itself */
export async function run(
  words: readonly string[],
  world: World,
  commands: readonly CliCommand[] = COMMANDS,
): Promise<ExitCode> {
  // Determined before parsing, so that an invalid argument is also reported in the requested format.
  const flags = { json: words.includes('--json'), plain: words.includes('--no-color') };
  let usedApi: () => CairnClient | undefined = () => undefined;
  try {
    if (words[0] === '--version') {
      world.stdout.write(`${world.version}\n`);
      return EXIT.ok;
    }
    const parsed = parse(words, commands);
    if (parsed.kind === 'help') return printHelp(parsed, world, commands);
    const { context, api } = contextFor(parsed, world);
    usedApi = api;
    return (await parsed.command.run(context, parsed.given as never)) ?? EXIT.ok;
  } catch (error) {
    if (world.interrupted.aborted) return EXIT.interrupted;
    const style = styleFor(world.stderr, world, flags.plain || flags.json);
    const report = errorReport(error, style, callOf(world.env));
    const api = usedApi();
    const versions = api && (await differentVersions(error, api, world.version));
    const { exitCode, text, json } = versions ? withVersions(report, versions) : report;
    world.stderr.write(flags.json ? `${JSON.stringify(json)}\n` : text);
    return exitCode;
  }
}

interface PreparedCommand {
  readonly context: CommandContext;
  /** Undefined until the command uses it. */
  api(): CairnClient | undefined;
}

function contextFor({ given, global }: Parsed & { readonly kind: 'run' }, world: World): PreparedCommand {
  const flags = { json: global.json, plain: global['no-color'] };
  let api: CairnClient | undefined;
  const connected = () => apiOf(connect(global, world), world, given.key);
  const context: CommandContext = {
    world,
    get api() {
      api ??= connected();
      return api;
    },
    connected,
    out: new CliOutput(world, 'stdout', flags),
    notes: new CliOutput(world, 'stderr', flags),
  };
  return { context, api: () => api };
}

function printHelp(
  { about }: Parsed & { readonly kind: 'help' },
  world: World,
  commands: readonly CliCommand[],
): ExitCode {
  const style = styleFor(world.stdout, world);
  const layout = {
    style,
    room: (world.stdout.isTty ? world.stdout.columns : undefined) ?? DEFAULT_COLUMNS,
    call: callOf(world.env),
  };
  world.stdout.write('run' in about ? helpOf(about, layout) : helpOfGroup(about, commands, layout));
  return EXIT.ok;
}
