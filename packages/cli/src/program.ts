/** One call of the command line, from its arguments to its exit code. Owns the order: parse, connect, run, report errors. */
import type { CairnClient } from '@cairn/client';
import { apiOf } from './api/client.ts';
import { connect } from './api/connection.ts';
import type { CliCommand } from './arguments/command.ts';
import { DEFAULT_COLUMNS, helpOf, helpOfGroup } from './arguments/help.ts';
import { type Parsed, parse } from './arguments/parse.ts';
import { COMMANDS } from './commands/all.ts';
import { CliOutput, type CommandContext } from './context.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { callOf } from './invocation.ts';
import { errorReport } from './render/problem.ts';
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
  try {
    if (words[0] === '--version') {
      world.stdout.write(`${world.version}\n`);
      return EXIT.ok;
    }
    const parsed = parse(words, commands);
    if (parsed.kind === 'help') return printHelp(parsed, world, commands);
    return (await parsed.command.run(contextFor(parsed, world), parsed.given as never)) ?? EXIT.ok;
  } catch (error) {
    if (world.interrupted.aborted) return EXIT.interrupted;
    const style = styleFor(world.stderr, world, flags.plain || flags.json);
    const { exitCode, text, json } = errorReport(error, style, callOf(world.env));
    world.stderr.write(flags.json ? `${JSON.stringify(json)}\n` : text);
    return exitCode;
  }
}

function contextFor({ given, global }: Parsed & { readonly kind: 'run' }, world: World): CommandContext {
  const flags = { json: global.json, plain: global['no-color'] };
  let api: CairnClient | undefined;
  const connected = () => apiOf(connect(global, world), world, given.key);
  return {
    world,
    get api() {
      api ??= connected();
      return api;
    },
    connected,
    out: new CliOutput(world, 'stdout', flags),
    notes: new CliOutput(world, 'stderr', flags),
  };
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
