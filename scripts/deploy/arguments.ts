/** Arguments of `npm run deploy`. Pure. */

export interface DeployOptions {
  /** Id or alias of the project. */
  readonly project: string;
  /** As in firebase-tools' `--only`. */
  readonly only: string;
  /** Path of the `firebase.json`. */
  readonly config: string | undefined;
  /** Creates what the project lacks. */
  readonly setUp: boolean;
  readonly deleteFunctions: boolean;
  readonly dryRun: boolean;
}

export class UsageError extends Error {}

export const USAGE = `Usage: npm run deploy -- --project PROJECT [options]

  --project, -P PROJECT   id or alias (.firebaserc) of the project; there is no default
  --set-up                first create what the project lacks: APIs, the permission to build,
                          placeholders for secrets, the topic of run events
  --only TARGETS          as with firebase deploy; default: firestore,functions,hosting
  --delete-functions      delete deployed functions that the sources no longer have
  --dry-run               check and build, but deploy nothing
  --config FILE           another firebase.json

Without a terminal it asks nothing.`;

const ALL = 'firestore,functions,hosting';
const PROJECT = /^[a-z0-9][a-z0-9:.-]{0,62}$/i;

/** @returns undefined for `--help`. @throws UsageError */
export function parseArguments(argv: readonly string[]): DeployOptions | undefined {
  const given: { project?: string; only?: string; config?: string } = {};
  const flags = new Set<string>();
  for (let at = 0; at < argv.length; at += 1) {
    const [name = '', inline] = split(argv[at] ?? '');
    if (name === '--help' || name === '-h') return undefined;
    if (FLAGS.has(name) && inline === undefined) {
      flags.add(name);
      continue;
    }
    const key = VALUES[name];
    if (key === undefined) throw new UsageError(`npm run deploy does not know '${argv[at]}'.\n\n${USAGE}`);
    if (inline === undefined) at += 1;
    const value = inline ?? argv[at];
    if (value === undefined || value === '' || value.startsWith('-'))
      throw new UsageError(`${name} needs a value.\n\n${USAGE}`);
    given[key] = value;
  }
  const { project, only = ALL, config } = given;
  if (project === undefined)
    throw new UsageError(
      'The project is missing: npm run deploy -- --project PROJECT. The active project of firebase-tools is never used, to prevent deploying to it by mistake.',
    );
  if (!PROJECT.test(project)) throw new UsageError(`'${project}' is not a project id or alias.`);
  return {
    project,
    only,
    config,
    setUp: flags.has('--set-up'),
    deleteFunctions: flags.has('--delete-functions'),
    dryRun: flags.has('--dry-run'),
  };
}

const FLAGS = new Set(['--set-up', '--delete-functions', '--dry-run']);
const VALUES: Readonly<Record<string, 'project' | 'only' | 'config'>> = {
  '--project': 'project',
  '-P': 'project',
  '--only': 'only',
  '--config': 'config',
};

/** `--only=functions` is `--only functions`. */
function split(argument: string): [string, string?] {
  const at = argument.indexOf('=');
  return argument.startsWith('--') && at > 0 ? [argument.slice(0, at), argument.slice(at + 1)] : [argument];
}

interface Invocation {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Arguments of firebase-tools. Without a terminal, `--force` is necessary for the service account, retry policies and the
 * clean-up policy of images; `firebase.cjs` prevents deletions by it. With a terminal, firebase-tools asks.
 */
export function invocationOf(options: DeployOptions, project: string, interactive: boolean): Invocation {
  const { only, config, dryRun, deleteFunctions, setUp } = options;
  return {
    argv: [
      'deploy',
      '--project',
      project,
      '--only',
      only,
      ...(config === undefined ? [] : ['--config', config]),
      ...(dryRun ? ['--dry-run'] : []),
      ...(interactive ? [] : ['--non-interactive', '--force']),
    ],
    env: {
      ...(deleteFunctions ? { CAIRN_DEPLOY_DELETES: '1' } : {}),
      ...(setUp ? { CAIRN_DEPLOY_SET_UP: '1' } : {}),
    },
  };
}
