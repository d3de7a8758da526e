/** Detects how this program was called, so that printed commands can be pasted. Pure. */

/** Default, for an installed command, an alias or a shell function. */
export const PLAIN_CALL = 'cairn';

/** The prefix of commands, such as `npx cairn`. npm, pnpm, Yarn and Bun name the running program in the environment. */
export function callOf(env: Readonly<Record<string, string | undefined>>): string {
  const { npm_command: mode, npm_lifecycle_event: script, npm_config_user_agent: agent = '' } = env;
  if (agent.startsWith('npm/')) {
    if (mode === 'exec') return 'npx cairn';
    return script === 'cairn' && isBelow(env.INIT_CWD, env.npm_config_local_prefix)
      ? 'npm run cairn --'
      : PLAIN_CALL;
  }
  if (agent.startsWith('pnpm/')) return mode === 'exec' ? 'pnpm exec cairn' : PLAIN_CALL;
  // Works in the folder of the project, but not below a nested `package.json`.
  return agent.startsWith('yarn/') ? 'yarn cairn' : PLAIN_CALL;
}

/** False with `npm --prefix`, where npm does not find the script from the user's folder. */
function isBelow(folder: string | undefined, root: string | undefined): boolean {
  return folder !== undefined && root !== undefined && `${folder}/`.startsWith(`${root}/`);
}

/** Adapts the commands in a text of this program, such as a hint. Values of runs must stay unchanged. */
export function asCalled(text: string, call = PLAIN_CALL): string {
  return call === PLAIN_CALL
    ? text
    : text.replaceAll(/(?<![\w./@-]|npx |exec |yarn |bunx |npm run |-- )cairn (?=[a-z-])/g, `${call} `);
}
