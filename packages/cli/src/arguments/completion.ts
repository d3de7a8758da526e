/** Completion scripts for shells, made from the table of commands. They start no program, so completion is instant. Pure. */
import { type CliCommand, optionHelp, optionsOf } from './command.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

interface CompletionEntry {
  /** Words that may follow here, with their descriptions. */
  readonly words: ReadonlyMap<string, string>;
}

export function completionScript(shell: (typeof SHELLS)[number], commands: readonly CliCommand[]): string {
  switch (shell) {
    case 'bash':
      return bash(commands);
    case 'zsh':
      return zsh(commands);
    case 'fish':
      return fish(commands);
  }
}

/** Possible continuations of each prefix of a command: further words of its name, otherwise its options and choices. */
function entries(commands: readonly CliCommand[]): Map<string, CompletionEntry> {
  const found = new Map<string, Map<string, string>>([['', new Map()]]);
  for (const command of commands) {
    const words = command.name.split(' ');
    for (const [at, word] of words.entries()) {
      const before = words.slice(0, at).join(' ');
      const next = found.get(before) ?? new Map<string, string>();
      const isWhole = at === words.length - 1;
      if (isWhole || !next.has(word)) next.set(word, isWhole ? command.summary : `${word} …`);
      found.set(before, next);
    }
    const own = new Map(
      Object.entries(optionsOf(command)).map(([name, spec]) => [`--${name}`, optionHelp(spec)]),
    );
    for (const { choices = [], help } of Object.values(command.args))
      for (const choice of choices) own.set(choice, help);
    found.set(command.name, new Map([...(found.get(command.name) ?? []), ...own]));
  }
  return new Map([...found].map(([name, words]) => [name, { words }]));
}

/** Options with a fixed list of values. */
function choices(commands: readonly CliCommand[]): Map<string, readonly string[]> {
  return new Map(
    commands.flatMap((command) =>
      Object.entries(optionsOf(command)).flatMap(([name, { choices: those }]) =>
        those ? [[`--${name}`, those] as const] : [],
      ),
    ),
  );
}

/** Options with a value, which is not a word of the command. */
function valued(commands: readonly CliCommand[]): string[] {
  const names = commands.flatMap((command) =>
    Object.entries(optionsOf(command)).flatMap(([name, { type }]) => (type === 'flag' ? [] : [`--${name}`])),
  );
  return [...new Set(names)];
}

/** Shell code, for bash and zsh, that finds the command from the words so far without options and their values. */
function commandWalk(commands: readonly CliCommand[]): string {
  return `  local path="" word skip=0
  for word in "\${before[@]}"; do
    if (( skip )); then skip=0; continue; fi
    case "$word" in
      ${valued(commands).join('|')}) skip=1 ;;
      --*) ;;
      *)
        case "\${path:+$path }$word" in
          ${[...entries(commands).keys()]
            .filter((name) => name !== '')
            .map((name) => `"${name}"`)
            .join('|')}) path="\${path:+$path }$word" ;;
        esac ;;
    esac
  done`;
}

function bash(commands: readonly CliCommand[]): string {
  const cases = [...entries(commands)].map(
    ([name, { words }]) => `    "${name}") words="${[...words.keys()].join(' ')}" ;;`,
  );
  const values = [...choices(commands)].map(
    ([name, those]) => `    ${name}) COMPREPLY=($(compgen -W "${those.join(' ')}" -- "$current")); return ;;`,
  );
  return `# bash completion for cairn; made by: cairn completion bash
_cairn() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local before=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
  case "$previous" in
${values.join('\n')}
    --key-file|--local) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
${commandWalk(commands)}
  local words=""
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _cairn cairn
`;
}

function zsh(commands: readonly CliCommand[]): string {
  const described = ([word, help]: readonly [string, string]) =>
    `'${word.replaceAll(':', '\\:')}:${help.replaceAll("'", "'\\''")}'`;
  const cases = [...entries(commands)].map(
    ([name, { words }]) => `    "${name}") words=(${[...words].map(described).join(' ')}) ;;`,
  );
  const values = [...choices(commands)].map(
    ([name, those]) => `    ${name}) compadd -- ${those.join(' ')}; return ;;`,
  );
  return `#compdef cairn
# zsh completion for cairn; made by: cairn completion zsh
_cairn() {
  setopt localoptions ksharrays
  local current="\${words[CURRENT-1]}" previous="\${words[CURRENT-2]}"
  local before=("\${words[@]:1:CURRENT-2}")
  case "$previous" in
${values.join('\n')}
    --key-file|--local) _files; return ;;
  esac
${commandWalk(commands)}
  local -a words
  case "$path" in
${cases.join('\n')}
  esac
  _describe 'cairn' words
}
compdef _cairn cairn
`;
}

function fish(commands: readonly CliCommand[]): string {
  const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = [...entries(commands)].flatMap(([name, { words }]) =>
    [...words].map(
      ([word, help]) =>
        `complete -c cairn -n ${quote(`__cairn_at ${quote(name)}`)} -a ${quote(word)} -d ${quote(help)}`,
    ),
  );
  const known = [...entries(commands).keys()].filter((name) => name !== '').map(quote);
  return `# fish completion for cairn; made by: cairn completion fish
function __cairn_at
    set -l path ""
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        if contains -- $word ${valued(commands).join(' ')}
            set skip 1
        else if not string match -q -- '--*' $word
            set -l next (string trim "$path $word")
            contains -- $next ${known.join(' ')}; and set path $next
        end
    end
    test "$path" = "$argv[1]"
end
complete -c cairn -f
${lines.join('\n')}
`;
}
