/** Temporary Firebase projects with the package `cairn` as npm installs it. */
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProgramEnd } from '../../../packages/cli/src/world.ts';
import { listening, type Said, saying } from '../support/stage.ts';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
export const EXAMPLE = join(ROOT, 'examples/existing-app');

export interface TemporaryProject {
  readonly root: string;
  /** All files by path, without those in node_modules. */
  files(): Readonly<Record<string, string>>;
  write(path: string, text: string): void;
  remove(path: string): void;
  /** Runs `cairn init …words` in the folder `cwd`. */
  init(words: readonly string[], options?: InitOptions): Promise<InitSaid>;
  dispose(): void;
}

export interface InitSaid extends Said {
  /** Programs that were run. */
  readonly programs: readonly string[];
}

interface InitOptions {
  readonly program?: ProgramEnd;
  /** Relative to the project. */
  readonly cwd?: string;
  readonly answer?: string;
  readonly nodeVersion?: string;
  /** Called while it runs a program. */
  readonly during?: () => Promise<void>;
}

export function temporaryProject(files: Readonly<Record<string, string>>): TemporaryProject {
  const root = mkdtempSync(join(tmpdir(), 'cairn-init-'));
  const at = (path: string) => join(root, path);
  const write = (path: string, text: string) => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  return {
    root,
    files: () => filesBelow(root),
    write,
    remove: (path) => rmSync(at(path), { recursive: true }),
    async init(words, { cwd = '.', answer, program, during, nodeVersion = '24.0.0' } = {}) {
      const world = listening({ ...(answer !== undefined && { answer }), ...(program && { program }) });
      const runProgram: typeof world.runProgram = async (command, args, folder) => {
        await during?.();
        const end = await world.runProgram(command, args, folder);
        if (end.code === 0) leavePackages(folder);
        return end;
      };
      const output = await saying(['init', ...words], { ...world, cwd: at(cwd), nodeVersion, runProgram });
      return { ...output, programs: world.programs };
    },
    dispose: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Writes what `npm install` leaves in a folder, as far as `init` looks at it. */
export function leavePackages(folder: string): void {
  const { cairn = '' } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).dependencies;
  const [version] = /\d+\.\d+\.\d+/.exec(cairn) ?? [];
  const [, tarball] = /^file:(.*)$/.exec(cairn) ?? [];
  const integrity = tarball && integrityOf(readFileSync(join(folder, tarball), 'utf8'));
  mkdirSync(join(folder, 'node_modules/cairn'), { recursive: true });
  writeFileSync(join(folder, 'node_modules/cairn/package.json'), JSON.stringify({ version }));
  writeFileSync(
    join(folder, 'node_modules/.package-lock.json'),
    JSON.stringify({ packages: { 'node_modules/cairn': { integrity } } }),
  );
}

/** Integrity in the form of a lock file. */
export function integrityOf(content: string): string {
  return `sha512-${createHash('sha512').update(content).digest('base64')}`;
}

/** The files of the package that `init` reads. */
export function withPackage(files: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { version, dependencies, peerDependencies } = JSON.parse(
    readFileSync(join(ROOT, 'packages/cairn/package.json'), 'utf8'),
  ) as Record<'version' | 'dependencies' | 'peerDependencies', unknown>;
  const manifest = {
    name: 'cairn',
    version,
    dependencies,
    peerDependencies,
    exports: { './functions': './lib/functions.js' },
  };
  return {
    ...files,
    'node_modules/cairn/package.json': JSON.stringify(manifest),
  };
}

export function exampleProject(): TemporaryProject {
  const project = temporaryProject(withPackage({}));
  cpSync(EXAMPLE, project.root, {
    recursive: true,
    filter: (path) => !relative(EXAMPLE, path).includes('node_modules'),
  });
  return project;
}

function filesBelow(root: string): Readonly<Record<string, string>> {
  const paths = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)))
    .filter((path) => !path.split(sep).includes('node_modules'));
  return Object.fromEntries(paths.sort().map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

export function isThere(project: TemporaryProject, path: string): boolean {
  return existsSync(join(project.root, path));
}
