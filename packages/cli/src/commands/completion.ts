/** `completion`: a script for the shell, made from the table of commands. */

import { type CliCommand, command } from '../arguments/command.ts';
import { completionScript, SHELLS } from '../arguments/completion.ts';

/** @param commands all of them, this one included */
export function completionOf(commands: () => readonly CliCommand[]): CliCommand {
  return command({
    name: 'completion',
    summary: 'Print a completion script for a shell',
    details: 'Completes the command cairn; see docs/cli.md to define it.',
    args: { shell: { help: 'shell', choices: SHELLS } },
    options: {},
    examples: [
      ['completion bash > ~/.local/share/bash-completion/completions/cairn', 'bash'],
      ['completion zsh > ~/.zfunc/_cairn', 'zsh, with ~/.zfunc in fpath'],
      ['completion fish > ~/.config/fish/completions/cairn.fish', 'fish'],
    ],
    async run({ out }, { args: { shell } }) {
      out.print(completionScript(shell, commands()));
      return undefined;
    },
  });
}
