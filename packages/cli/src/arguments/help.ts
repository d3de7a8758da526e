/** Help texts, made from the table of commands. Pure. */
import type { Style } from '../render/style.ts';
import { cells } from '../render/width.ts';
import { type Command, GLOBAL_OPTIONS, KEY_OPTION, type OptionSpec, type OptionSpecs } from './command.ts';

const INTRO = `cairn: see and steer runs, from a terminal or a script

  npm run cairn -- COMMAND …        in this project
  cairn COMMAND …                   with the function of docs/cli.md

With nothing set it talks to the local cloud that runs here (npm start). For any other installation set CAIRN_URL and
CAIRN_API_KEY, or say --url and --key-file.`;

const OUTRO = `cairn COMMAND --help tells more, with examples. Exit codes: 0 done, 1 refused or failed, 2 wrong words, 3 not found,
4 unreachable, 5 not allowed, 6 cancelled, 7 found something wrong.`;

/** Commands that begin with the words; all, if there are none. */
export function helpOfGroup(words: readonly string[], commands: readonly Command[], style: Style): string {
  const start = words.join(' ');
  const those = commands.filter(({ name }) => start === '' || name.startsWith(`${start} `));
  const groups = Map.groupBy(those, ({ name }) => (name.includes(' ') ? (name.split(' ')[0] ?? '') : ''));
  const width = Math.max(...those.map((one) => cells(usageOf(one)))) + 2;
  const lists = [...groups].map(([, members]) =>
    members.map((one) => `  ${usageOf(one).padEnd(width)}${style.dim(one.summary)}`).join('\n'),
  );
  if (start !== '') return `${lists.join('\n\n')}\n`;
  return `${INTRO}\n\n${style.bold('Commands')}\n\n${lists.join('\n\n')}\n\n${optionList('Options of all commands', GLOBAL_OPTIONS, style)}\n\n${OUTRO}\n`;
}

export function helpOf(command: Command, style: Style): string {
  const { summary, details, args, options, mutates, examples } = command;
  const own = { ...options, ...(mutates ? KEY_OPTION : {}) };
  const parts = [
    `${style.bold(`cairn ${usageOf(command)}`)}${Object.keys(own).length > 0 ? ' [options]' : ''}`,
    `${summary}.${details === undefined ? '' : `\n${details}`}`,
    ...(Object.keys(args).length === 0 ? [] : [argumentList(command, style)]),
    ...(Object.keys(own).length === 0 ? [] : [optionList('Options', own, style)]),
    optionList('Options of all commands', GLOBAL_OPTIONS, style),
    `${style.bold('Examples')}\n\n${examples.map(([line, what]) => `  ${style.dim(`# ${what}`)}\n  cairn ${line}`).join('\n\n')}`,
  ];
  return `${parts.join('\n\n')}\n`;
}

/** `runs show RUN`. */
function usageOf({ name, args }: Command): string {
  const shown = Object.entries(args).map(([arg, { optional }]) =>
    optional ? `[${arg.toUpperCase()}]` : arg.toUpperCase(),
  );
  return [name, ...shown].join(' ');
}

function argumentList({ args }: Command, style: Style): string {
  const rows = Object.entries(args).map(
    ([name, { help, choices }]) =>
      [name.toUpperCase(), choices ? `${help}: ${choices.join(', ')}` : help] as const,
  );
  return `${style.bold('Arguments')}\n\n${columns(rows)}`;
}

function optionList(title: string, options: OptionSpecs, style: Style): string {
  const rows = Object.entries(options).map(
    ([name, spec]) =>
      [
        optionUsage(name, spec),
        spec.choices ? `${spec.help}: ${spec.choices.join(', ')}` : spec.help,
      ] as const,
  );
  return `${style.bold(title)}\n\n${columns(rows)}`;
}

function optionUsage(name: string, { type, value }: OptionSpec): string {
  return type === 'flag' ? `--${name}` : `--${name} ${value ?? name.toUpperCase()}`;
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  return rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`).join('\n');
}
