/**
 * A command as data: its words, arguments, options and examples. Help, completion, parsing and the test of the
 * documentation are made from this one table.
 */
import type { CommandContext } from '../context.ts';
import type { ExitCode } from '../exit.ts';

interface OptionBase {
  readonly help: string;
  /** Its short form, a letter: `-f`. */
  readonly short?: string;
  /** Placeholder of the value in help; default: the name in capitals. */
  readonly value?: string;
  readonly choices?: readonly string[];
  /** Limits of a number, inclusive. */
  readonly range?: readonly [number, number];
}

interface TextOption extends OptionBase {
  readonly type: 'text';
  /** Reason why the option is required; printed after `--name is missing:`. */
  readonly required?: string;
}

interface OptionalOption extends OptionBase {
  /** `list`: may be given several times. */
  readonly type: 'flag' | 'number' | 'list';
  readonly required?: never;
}

export type OptionSpec = TextOption | OptionalOption;

interface ArgumentSpec {
  readonly help: string;
  readonly optional?: true;
  readonly choices?: readonly string[];
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;
/** In the order in which they are given. */
export type ArgumentSpecs = Readonly<Record<string, ArgumentSpec>>;

type ValueOf<S extends OptionSpec> = S['type'] extends 'flag'
  ? boolean
  : S['type'] extends 'number'
    ? number | undefined
    : S['type'] extends 'list'
      ? readonly string[]
      : ChoiceOf<S> | (S extends { readonly required: string } ? never : undefined);

type ChoiceOf<S> = S extends { readonly choices: readonly (infer C)[] } ? C : string;

export type OptionsOf<O extends OptionSpecs> = { readonly [Name in keyof O]: ValueOf<O[Name]> };
type ArgumentsOf<A extends ArgumentSpecs> = {
  readonly [Name in keyof A]:
    | ChoiceOf<A[Name]>
    | (A[Name] extends { readonly optional: true } ? undefined : never);
};

export interface Given<A extends ArgumentSpecs, O extends OptionSpecs> {
  readonly args: ArgumentsOf<A>;
  readonly options: OptionsOf<O>;
}

/** Returns the exit code if it is not 0. */
type RunCommand<A extends ArgumentSpecs, O extends OptionSpecs> = (
  context: CommandContext,
  given: Given<A, O>,
) => Promise<ExitCode | undefined>;

export interface CommandSpec<A extends ArgumentSpecs, O extends OptionSpecs> {
  /** The words it is called by, e.g. `runs list`. */
  readonly name: string;
  /** One line, without a full stop. */
  readonly summary: string;
  readonly details?: string;
  /** Default: none. */
  readonly args?: A;
  readonly options?: O;
  /** The command changes something: it sends an idempotency key and accepts `--key`. */
  readonly mutates?: true;
  /** At least one: a command line without `cairn`, and its effect. */
  readonly examples: readonly (readonly [line: string, what: string])[];
  readonly run: RunCommand<A, O>;
}

/** A command with erased types, for the table of all commands. */
export type CliCommand = Required<Pick<CommandSpec<ArgumentSpecs, OptionSpecs>, 'args' | 'options'>> &
  Omit<CommandSpec<ArgumentSpecs, OptionSpecs>, 'args' | 'options'>;

/** No arguments, or no options. */
export type None = Readonly<Record<never, never>>;

/** Checks the types of one command against each other, and erases them. */
export function command<const A extends ArgumentSpecs = None, const O extends OptionSpecs = None>(
  spec: CommandSpec<A, O>,
): CliCommand {
  // The arguments of `run` were parsed by the same specs, see parse.ts.
  return { args: {}, options: {}, ...spec } as unknown as CliCommand;
}

/** Options that every command takes. */
export const GLOBAL_OPTIONS = {
  url: {
    type: 'text',
    value: 'URL',
    help: 'address of the installation (default: CAIRN_URL, or the running local cloud)',
  },
  'key-file': { type: 'text', value: 'FILE', help: 'file with the API key (default: CAIRN_API_KEY)' },
  local: { type: 'text', value: 'DIR', help: 'local cloud with this data directory (default .cairn)' },
  json: { type: 'flag', help: 'print the API response as JSON' },
  'no-color': { type: 'flag', help: 'disable colours (as does NO_COLOR)' },
  help: { type: 'flag', help: 'print this help' },
} as const satisfies OptionSpecs;

export type GlobalOptions = OptionsOf<typeof GLOBAL_OPTIONS>;

/** Option of every command that changes something. */
export const KEY_OPTION = {
  key: {
    type: 'text',
    value: 'KEY',
    help: 'idempotency key (default: a new one); a request is carried out once per key',
  },
} as const satisfies OptionSpecs;

/** Help text of an option, without its choices. */
export function optionHelp({ help, required }: OptionSpec): string {
  return required === undefined ? help : `${help}; required`;
}

/** All options of a command, its own first. */
export function optionsOf({ options, mutates }: CliCommand): OptionSpecs {
  return { ...options, ...(mutates ? KEY_OPTION : {}), ...GLOBAL_OPTIONS };
}
