/** Help texts, made from the table of commands. Pure. */
import { asCalled } from '../invocation.ts';
import type { Style } from '../render/style.ts';
import { cells, pad, wrap } from '../render/width.ts';
import {
  type CliCommand,
  GLOBAL_OPTIONS,
  KEY_OPTION,
  type OptionSpec,
  type OptionSpecs,
  optionHelp,
} from './command.ts';

const INTRO = `cairn: manage runs from a terminal or a script

  npx cairn COMMAND …               in a project that has @cairn/cli
  npm run cairn -- COMMAND …        in the repository of Cairn

By default it talks to the local cloud of this folder. For another
installation, set CAIRN_URL and CAIRN_API_KEY, or give --url and --key-file.
To see why a run is where it is: cairn explain RUN`;

const OUTRO =
  'COMMAND --help shows its options, with examples. cairn --version prints the version. Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 not found, 4 unreachable, 5 not allowed, 6 cancelled, 7 found a problem.';

/** Commands that begin with the words; all if there are none. */
export function helpOfGroup(
  words: readonly string[],
  commands: readonly CliCommand[],
  layout: HelpLayout,
): string {
  const { style, room, call } = layout;
  const start = words.join(' ');
  const those = commands.filter(({ name }) => start === '' || name.startsWith(`${start} `));
  const groups = Map.groupBy(those, ({ name }) => (name.includes(' ') ? (name.split(' ')[0] ?? '') : ''));
  const lists = [...groups].map(([, members]) =>
    columns(
      members.map((one) => [usageOf(one), one.summary] as const),
      { room, paint: style.dim },
    ),
  );
  if (start !== '') return `${lists.join('\n\n')}\n`;
  return `${asCalled(INTRO, call)}\n\n${style.bold('Commands')}\n\n${lists.join('\n\n')}\n\n${optionList('Options of all commands', GLOBAL_OPTIONS, layout)}\n\n${wrap(asCalled(OUTRO, call), room).join('\n')}\n`;
}

export function helpOf(command: CliCommand, layout: HelpLayout): string {
  const { style, room, call } = layout;
  const { summary, details, args, options, mutates, examples } = command;
  const own = { ...options, ...(mutates ? KEY_OPTION : {}) };
  const parts = [
    `${style.bold(`${call} ${usageOf(command)}`)}${Object.keys(own).length > 0 ? ' [options]' : ''}`,
    wrap([`${summary}.`, details?.replaceAll('\n', ' ')].filter(Boolean).join(' '), room).join('\n'),
    ...(Object.keys(args).length === 0 ? [] : [argumentList(command, layout)]),
    ...(Object.keys(own).length === 0 ? [] : [optionList('Options', own, layout)]),
    optionList('Options of all commands', GLOBAL_OPTIONS, layout),
    `${style.bold('Examples')}\n\n${examples.map(([line, what]) => `  ${style.dim(`# ${asCalled(what, call)}`)}\n  ${call} ${line}`).join('\n\n')}`,
  ];
  return `${parts.join('\n\n')}\n`;
}

/** `runs show RUN`. */
export function usageOf({ name, args }: CliCommand): string {
  const shown = Object.entries(args).map(([arg, { optional }]) =>
    optional ? `[${arg.toUpperCase()}]` : arg.toUpperCase(),
  );
  return [name, ...shown].join(' ');
}

interface HelpLayout {
  readonly style: Style;
  /** Cells of a line. */
  readonly room: number;
  /** Words before those of a command. */
  readonly call: string;
}

function argumentList({ args }: CliCommand, { style, room, call }: HelpLayout): string {
  const rows = Object.entries(args).map(
    ([name, { help, choices }]) =>
      [name.toUpperCase(), asCalled(choices ? `${help}: ${choices.join(', ')}` : help, call)] as const,
  );
  return `${style.bold('Arguments')}\n\n${columns(rows, { room })}`;
}

function optionList(title: string, options: OptionSpecs, { style, room }: HelpLayout): string {
  const rows = Object.entries(options).map(
    ([name, spec]) =>
      [
        optionUsage(name, spec),
        spec.choices ? `${optionHelp(spec)}: ${spec.choices.join(', ')}` : optionHelp(spec),
      ] as const,
  );
  return `${style.bold(title)}\n\n${columns(rows, { room })}`;
}

function optionUsage(name: string, { type, value, short }: OptionSpec): string {
  const flags = short === undefined ? `--${name}` : `-${short}, --${name}`;
  return type === 'flag' ? flags : `${flags} ${value ?? name.toUpperCase()}`;
}

/** Without a terminal. */
export const DEFAULT_COLUMNS = 80;
/** A longer left side has a line of its own. */
const MAX_LEFT = 30;

/** The right side is wrapped beside the left. */
function columns(
  rows: readonly (readonly [string, string])[],
  { room, paint = (text) => text }: { readonly room: number; readonly paint?: (text: string) => string },
): string {
  const width = Math.min(MAX_LEFT, Math.max(...rows.map(([left]) => cells(left)))) + 2;
  const indent = ' '.repeat(width + 2);
  return rows
    .flatMap(([left, right]) => {
      const [first = '', ...rest] = wrap(right, Math.max(20, room - width - 2)).map(paint);
      const beside = rest.map((line) => `${indent}${line}`);
      return cells(left) + 2 > width
        ? [`  ${left}`, `${indent}${first}`, ...beside]
        : [`  ${pad(left, width)}${first}`, ...beside];
    })
    .join('\n');
}
