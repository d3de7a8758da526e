/** The way this program was called, so that a command that it prints can be pasted. Pure. */

/** Used if nothing is known: an installed command, an alias, a shell function. */
export const PLAIN_CALL = 'cairn';

/** The words before those of a command: `npx cairn`. npm, pnpm, Yarn and Bun name the running program in the environment. */
export function callOf(env: Readonly<Record<string, string | undefined>>): string {
  const { npm_command: mode, npm_lifecycle_event: script, npm_config_user_agent: agent = '' } = env;
  if (agent.startsWith('npm/')) {
    if (mode === 'exec') return 'npx cairn';
    return script === 'cairn' && isBelow(env.INIT_CWD, env.npm_config_local_prefix)
      ? 'npm run cairn --'
      : PLAIN_CALL;
  }
  if (agent.startsWith('pnpm/')) return mode === 'exec' ? 'pnpm exec cairn' : PLAIN_CALL;
  // In the folder of the project; a folder with a `package.json` of its own has other programs.
  return agent.startsWith('yarn/') ? 'yarn cairn' : PLAIN_CALL;
}

/** With `npm --prefix`, as in a shell function, npm does not find the script from the user's folder. */
function isBelow(folder: string | undefined, root: string | undefined): boolean {
  return folder !== undefined && root !== undefined && `${folder}/`.startsWith(`${root}/`);
}

/** Commands within a text of ours, such as a hint. Never for values of runs, which are shown as they are. */
export function asCalled(text: string, call = PLAIN_CALL): string {
  return call === PLAIN_CALL
    ? text
    : text.replaceAll(/(?<![\w./@-]|npx |exec |yarn |bunx |npm run |-- )cairn (?=[a-z-])/g, `${call} `);
}
