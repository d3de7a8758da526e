/** Commands to run after `init`, by package manager. */
import type { Files } from '../../init/files.ts';
import { readFirebaseJson } from '../../init/firebase-json.ts';
import { type PackageManager, packageManagerOf, packagesIn } from '../../init/project.ts';
import { PNPM_SETTINGS } from '../../init/templates.ts';
import type { Style } from '../../render/style.ts';

interface InitializedFolder {
  readonly root: string;
  readonly name: string;
  readonly files: Files;
}

interface NextStep {
  readonly command: string;
  readonly why: string;
}

/** The reason stands above its command, which can be long. */
export function stepsText(steps: readonly NextStep[], style: Style): string {
  return steps.map(({ command: line, why }) => `  ${style.dim(`# ${why}`)}\n  ${line}\n`).join('');
}

/** Commands that undo the effects of other commands. */
export function stepsAfterUndo({ root, name, files }: InitializedFolder): NextStep[] {
  const packages = packagesIn(files);
  const manager = packageManagerOf(root);
  return [
    ...(files.exists('.cairn')
      ? [{ command: 'rm -r .cairn', why: 'the state of the local cloud, with its runs' }]
      : []),
    ...(packages.length > 0
      ? [{ command: `${manager} ${REMOVE[manager]} ${packages.join(' ')}`, why: 'the packages' }]
      : []),
    { command: `firebase functions:delete ${name}`, why: 'the functions, if they were deployed' },
    {
      command: `firebase firestore:databases:delete ${name}`,
      why: 'the database with all runs, if it was created: it costs storage',
    },
  ];
}

const REMOVE: Readonly<Record<PackageManager, string>> = {
  npm: 'uninstall',
  pnpm: 'remove',
  yarn: 'remove',
  bun: 'remove',
};
const RUN: Readonly<Record<PackageManager, string>> = {
  npm: 'npx',
  pnpm: 'pnpm exec',
  yarn: 'yarn',
  bun: 'bunx',
};
export const INSTALL: Readonly<Record<PackageManager, (folder: string) => string>> = {
  npm: (folder) => `npm --prefix ${folder} install`,
  pnpm: (folder) => `pnpm --dir ${folder} install`,
  // Yarn refuses a folder that is not a workspace of the project. A deployment installs the folder with npm too.
  yarn: (folder) => `npm --prefix ${folder} install`,
  bun: (folder) => `bun install --cwd ${folder}`,
};

/** Location of the database as `firebase.json` names it. A database that an earlier version added has none. */
function locationIn(files: Files, name: string): unknown {
  const text = Buffer.from(files.read('firebase.json') ?? []).toString('utf8');
  const entry = readFirebaseJson(text).firestore.find(({ database }) => database === name);
  return entry?.location ?? 'LOCATION';
}

/** Must be called after the files of the folder are written. */
export function nextSteps(folder: InitializedFolder, isInstalled: boolean): NextStep[] {
  const { name, files } = folder;
  return [
    ...stepsToServe(folder, isInstalled),
    {
      command: `firebase firestore:databases:create ${name} --location=${locationIn(files, name)}`,
      why: 'once, before the first deployment',
    },
    {
      command: `firebase deploy --only functions:${name},firestore:${name}`,
      why: 'Cairn alone, by firebase-tools 15.23 or newer',
    },
  ];
}

/** Steps after the codebase got another version of Cairn. */
export function nextStepsOfUpgrade(folder: InitializedFolder, isInstalled: boolean): NextStep[] {
  const { name } = folder;
  return [
    ...stepsToServe(folder, isInstalled),
    {
      command: `firebase deploy --only firestore:${name}`,
      why: 'the indexes before the functions: lists fail until they are built',
    },
    { command: `firebase deploy --only functions:${name}`, why: 'when they are built' },
  ];
}

function stepsToServe({ root, name, files }: InitializedFolder, isInstalled: boolean): NextStep[] {
  const manager = packageManagerOf(root);
  const isPartOfWorkspace = manager === 'pnpm' && !files.exists(`${name}/${PNPM_SETTINGS}`);
  // Without this option, pnpm would install the workspace around the folder.
  const install = `${INSTALL[manager](name)}${isPartOfWorkspace ? ' --ignore-workspace' : ''}`;
  return [
    ...(isInstalled ? [] : [{ command: install, why: 'packages of the codebase' }]),
    { command: `${RUN[manager]} cairn dev`, why: "your functions and Cairn's on this machine" },
  ];
}
