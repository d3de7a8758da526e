/** Reads the words of a command line against the table of commands. Pure: prints and exits nothing. */
import { parseArgs } from 'node:util';
import { UsageError } from '../exit.ts';
import { closest } from './closest.ts';
import {
  type CliCommand,
  type GlobalOptions,
  type OptionSpec,
  type OptionSpecs,
  optionsOf,
} from './command.ts';
import { usageOf } from './help.ts';

export type Parsed =
  | {
      readonly kind: 'run';
      readonly command: CliCommand;
      readonly given: GivenWords;
      readonly global: GlobalOptions;
    }
  /** A command, or the first words of some; no words: all commands. */
  | { readonly kind: 'help'; readonly about: CliCommand | readonly string[] };

interface GivenWords {
  readonly args: Readonly<Record<string, string | undefined>>;
  readonly options: Readonly<Record<string, unknown>>;
  /** `--key`, of a command that changes something. */
  readonly key: string | undefined;
}

/** @throws UsageError with the wrong word and a suggestion */
export function parse(given: readonly string[], commands: readonly CliCommand[]): Parsed {
  const words = asOption(given, commands);
  const loose = looselyRead(words, commands);
  const { positionals } = loose;
  const command = commandOf(positionals, commands);
  if (command === undefined) {
    const isGroup = commands.some(({ name }) => startsWith(name.split(' '), positionals));
    if (isGroup && (loose.help || positionals.length === 0)) return { kind: 'help', about: positionals };
    throw unknownCommand(positionals, commands);
  }
  if (loose.help) return { kind: 'help', about: command };
  const { values, positionals: all } = strictlyRead(words, command);
  const args = argumentsOf(command, all.slice(command.name.split(' ').length));
  assertRequired(command, values);
  return {
    kind: 'run',
    command,
    given: {
      args,
      options: pick(values, command.options),
      key: values.key as string | undefined,
    },
    global: values as unknown as GlobalOptions,
  };
}

/**
 * `help runs list` and `runs help` mean `--help`. Otherwise the suggestion would be the nearest command, `runs halt`, which ends
 * runs.
 */
function asOption(words: readonly string[], commands: readonly CliCommand[]): readonly string[] {
  const [first, ...others] = words;
  if (first === 'help') return [...others, '--help'];
  const isOfGroup = others[0] === 'help' && commands.some(({ name }) => name.startsWith(`${first} `));
  return isOfGroup && first !== undefined ? [first, '--help'] : words;
}

/** The command with the most words that the positionals begin with. */
function commandOf(positionals: readonly string[], commands: readonly CliCommand[]): CliCommand | undefined {
  return commands
    .filter(({ name }) => startsWith(positionals, name.split(' ')))
    .toSorted((a, b) => b.name.length - a.name.length)[0];
}

function startsWith(words: readonly string[], start: readonly string[]): boolean {
  return start.every((word, at) => words[at] === word);
}

function unknownCommand(positionals: readonly string[], commands: readonly CliCommand[]): UsageError {
  const names = [...new Set(commands.flatMap(({ name }) => [name, name.split(' ')[0] ?? '']))];
  const group = names.filter((name) => name.startsWith(`${positionals[0]} `));
  if (group.length > 0 && positionals.length === 1)
    return new UsageError(`'${positionals[0]}' needs a subcommand`, `There are: ${group.join(', ')}.`);
  const words = positionals.slice(0, 2).join(' ');
  const near = closest(words, names) ?? closest(positionals[0] ?? '', names);
  const meant = near === undefined ? names.filter((name) => name.endsWith(` ${positionals[0]}`)) : [near];
  return new UsageError(
    `there is no command '${words}'`,
    meant.length === 0
      ? 'See cairn --help.'
      : `Did you mean ${meant.map((name) => `'${name}'`).join(' or ')}? See cairn --help.`,
  );
}

interface Loose {
  readonly positionals: readonly string[];
  readonly help: boolean;
}

/** Finds the positional words between options: an option has the same type in every command. */
function looselyRead(words: readonly string[], commands: readonly CliCommand[]): Loose {
  const all: OptionSpecs = Object.assign({}, ...commands.map(optionsOf));
  const { positionals, values } = parseArgs({
    args: [...words],
    options: forNode(all),
    allowPositionals: true,
    strict: false,
  });
  return { positionals, help: values.help === true };
}

function strictlyRead(words: readonly string[], command: CliCommand) {
  const options = optionsOf(command);
  try {
    const read = parseArgs({ args: [...words], options: forNode(options), allowPositionals: true });
    const values = Object.fromEntries(
      Object.entries(options).map(([name, spec]) => [name, readValue(name, spec, read.values[name])]),
    );
    return { values: values as Readonly<Record<string, unknown>>, positionals: read.positionals };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw optionError(error as Error, command, words);
  }
}

/** Translates an error of `parseArgs`, and suggests a similar option. */
function optionError(error: Error, command: CliCommand, words: readonly string[]): UsageError {
  const help = `See cairn ${command.name} --help.`;
  const [, unknown] = /Unknown option '--?([^']+)'/.exec(error.message) ?? [];
  if (unknown === undefined)
    return (
      valueError(error, { command, words, help }) ?? new UsageError(error.message.split('\n').join(' '), help)
    );
  if (Object.hasOwn(command.args, unknown))
    return new UsageError(
      `${unknown.toUpperCase()} is an argument of '${command.name}', not an option`,
      `Give it without --${unknown}: cairn ${usageOf(command)}. ${help}`,
    );
  const near = closest(unknown, Object.keys(optionsOf(command)));
  return new UsageError(
    `'${command.name}' has no option --${unknown}`,
    near === undefined ? help : `Did you mean --${near}? ${help}`,
  );
}

/** Undefined if the error is not about the value of an option. */
function valueError(
  error: Error,
  { command, words, help }: { command: CliCommand; words: readonly string[]; help: string },
): UsageError | undefined {
  const [, name = ''] = /^Option '(?:-\w, )?--([^' ]+)/.exec(error.message) ?? [];
  const spec = optionsOf(command)[name];
  if (spec === undefined) return undefined;
  if (spec.type === 'flag') return new UsageError(`--${name} takes no value`, help);
  const value = words.find((word, at) => /^-./.test(word) && words[at - 1] === `--${name}`);
  if (value === undefined) return new UsageError(`--${name} needs a value`, help);
  if (spec.type === 'number' && /^-\d/.test(value)) return notInRange(name, spec, value);
  return new UsageError(
    `--${name} needs a value, and '${value}' is read as an option`,
    `If it is the value, write --${name}=${value}. ${help}`,
  );
}

function forNode(options: OptionSpecs) {
  return Object.fromEntries(
    Object.entries(options).map(([name, { type, short }]) => [
      name,
      {
        ...(short === undefined ? {} : { short }),
        ...(type === 'flag'
          ? ({ type: 'boolean' } as const)
          : ({ type: 'string', multiple: type === 'list' } as const)),
      },
    ]),
  );
}

function readValue(name: string, spec: OptionSpec, read: unknown): unknown {
  if (spec.type === 'flag') return read === true;
  if (spec.type === 'list') return (read as readonly string[] | undefined) ?? [];
  if (read === undefined) return undefined;
  const text = String(read);
  if (text === '') throw new UsageError(`--${name} needs a value`);
  if (spec.choices && !spec.choices.includes(text))
    throw new UsageError(`--${name} must be one of ${spec.choices.join(', ')}, not '${text}'`);
  return spec.type === 'number' ? numberOf(name, spec, text) : text;
}

function numberOf(name: string, spec: OptionSpec, text: string): number {
  const [least, most] = rangeOf(spec);
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw notInRange(name, spec, text);
}

const rangeOf = ({ range = [0, Number.MAX_SAFE_INTEGER] }: OptionSpec) => range;

function notInRange(name: string, spec: OptionSpec, text: string): UsageError {
  const [least, most] = rangeOf(spec);
  return new UsageError(`--${name} must be a whole number from ${least} to ${most}, not '${text}'`);
}

/**
 * Suggests the option for a word that is JSON or a JSON file. Undefined if the word is neither, or the command has no such
 * option.
 */
function forJson({ name, options }: CliCommand, word: string): string | undefined {
  const [option] = Object.entries(options).find(([, { value }]) => value === 'JSON') ?? [];
  if (option === undefined || !/^[{["@]/.test(word)) return undefined;
  return `Give it with --${option}: see cairn ${name} --help.`;
}

function argumentsOf(command: CliCommand, words: readonly string[]): Record<string, string | undefined> {
  const specs = Object.entries(command.args);
  const usage = `See cairn ${command.name} --help.`;
  const missing = specs.find(([, { optional }], at) => !optional && (words[at] ?? '') === '');
  if (missing) throw new UsageError(`${missing[0].toUpperCase()} is missing: ${missing[1].help}`, usage);
  const extra = words[specs.length];
  if (extra !== undefined)
    throw new UsageError(`unexpected argument '${extra}'`, forJson(command, extra) ?? usage);
  for (const [at, [name, { choices }]] of specs.entries()) {
    const word = words[at];
    if (choices && word !== undefined && !choices.includes(word))
      throw new UsageError(
        `${name.toUpperCase()} must be one of ${choices.join(', ')}, not '${word}'`,
        usage,
      );
  }
  return Object.fromEntries(specs.map(([name], at) => [name, words[at]]));
}

/** Called after the arguments are checked, so that without any words the error names the first argument. */
function assertRequired(
  { name: command, options }: CliCommand,
  values: Readonly<Record<string, unknown>>,
): void {
  for (const [name, { required }] of Object.entries(options))
    if (required !== undefined && values[name] === undefined)
      throw new UsageError(`--${name} is missing: ${required}`, `See cairn ${command} --help.`);
}

function pick(values: Readonly<Record<string, unknown>>, specs: OptionSpecs): Record<string, unknown> {
  return Object.fromEntries(Object.keys(specs).map((name) => [name, values[name]]));
}
