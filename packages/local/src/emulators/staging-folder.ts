/**
 * Staging folder for firebase-tools: the functions built as for a deployment, with the environment files of the local
 * cloud. Separate from the project's folder, whose files would hold a developer's secrets and another build. Owns its
 * contents; the creator removes it.
 */
import { spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { envFile, namesIn, parametersAmong } from './env-file.ts';

interface StagingOptions {
  /** The project's folder. */
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Port of each emulator. firebase-tools always starts the last two beside functions; nothing here uses them. */
  readonly ports: Readonly<Record<'functions' | 'hub' | 'logging' | 'tasks' | 'eventarc', number>>;
}

export interface StagingFolder {
  /** Holds `firebase.json` and `functions/`. */
  readonly folder: string;
  /** May be called after discovery, because the file is read when a function starts. */
  writeSecrets(values: Readonly<Record<string, string>>): Promise<void>;
  remove(): Promise<void>;
}

/** @throws Error with the output of the build if it fails */
export async function makeStagingFolder({ root, env, ports }: StagingOptions): Promise<StagingFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'cairn-emulators-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const functions = join(folder, 'functions');
  try {
    await mkdir(functions);
    await build(root, join(functions, 'lib'));
    await copyFile(join(root, 'functions/package.json'), join(functions, 'package.json'));
    await symlink(join(root, 'node_modules'), join(functions, 'node_modules'), 'junction');
    const parameters = await readFile(join(root, 'functions/.env'), 'utf8');
    await writeFile(join(functions, '.env'), parameters);
    const parameterValues = parametersAmong(namesIn(parameters), env);
    await writeFile(join(functions, '.env.local'), envFile(parameterValues), { mode: 0o600 });
    await writeFile(join(folder, 'firebase.json'), await configFor(root, ports));
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    folder,
    writeSecrets: (values) => writeFile(join(functions, '.secret.local'), envFile(values), { mode: 0o600 }),
    remove,
  };
}

function build(root: string, outDir: string): Promise<void> {
  const child = spawn(process.execPath, [join(root, 'scripts/build-functions.mjs'), outDir], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  const note = (chunk: Buffer) => {
    stderr += chunk;
  };
  child.stdout.on('data', note);
  child.stderr.on('data', note);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`the functions cannot be built:\n${stderr}`));
    });
  });
}

/**
 * Uses the project's runtime, but none of its emulator settings: every port is given, so that several can run
 * concurrently.
 */
async function configFor(root: string, ports: StagingOptions['ports']): Promise<string> {
  const project = JSON.parse(await readFile(join(root, 'firebase.json'), 'utf8')) as {
    functions: readonly { readonly runtime: string; readonly codebase: string }[];
  };
  const emulators = Object.entries(ports).map(([name, port]) => [name, { host: '127.0.0.1', port }]);
  return JSON.stringify({
    functions: project.functions.map(({ runtime, codebase }) => ({ source: 'functions', codebase, runtime })),
    emulators: { ...Object.fromEntries(emulators), ui: { enabled: false } },
  });
}
