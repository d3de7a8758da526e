/**
 * An app that got Cairn by `cairn init`, and the function kit by `firebase functions:kits:install`, from the packages as they are
 * published. It lies inside the repository, so that they find what they depend on where npm would have installed it: in a folder above.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { envFile } from '../../../packages/local/src/emulators/env-file.ts';
import { readDocument } from '../../docs/snippets.ts';
import { ROOT } from '../manifest-of.ts';

export const PROJECT_ID = 'demo-kits';
const TOOLS = join(ROOT, 'emulators/node_modules/firebase-tools');
/** As `--package` writes them, the name of the package apart. */
const TEMPLATES = join(TOOLS, 'templates/init/functions/typescript');
const DEPENDENCIES = {
  '@cairn/calls': '^0.2.0',
  'firebase-admin': '^14.0.0',
  'firebase-functions': '^7.3.0',
};
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Facts of `firebase deploy` that are compared. */
export interface Build {
  readonly endpoints: Readonly<
    Record<string, { readonly secretEnvironmentVariables?: readonly { key: string; secret: string }[] }>
  >;
  readonly requiredRoles?: readonly string[];
}

interface Kit {
  readonly kit: string;
  readonly instances: Readonly<Record<string, string>>;
}

export class KitProject {
  readonly root: string;
  readonly #env: NodeJS.ProcessEnv;

  /** @param google where firebase-tools finds Google, of which it asks the titles of roles */
  constructor(google: string) {
    mkdirSync(join(ROOT, '.cairn'), { recursive: true });
    this.root = mkdtempSync(join(ROOT, '.cairn/kits-'));
    // npm tells where it was called: commands in the project must not go there.
    const outside = Object.entries(process.env).filter(
      ([name]) => name !== 'INIT_CWD' && !name.startsWith('npm_'),
    );
    this.#env = {
      ...Object.fromEntries(outside),
      PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`,
      CI: '1',
      XDG_CONFIG_HOME: join(this.root, 'settings'),
      FIREBASE_TOKEN: 'stand-in',
      FIREBASE_TOKEN_URL: google,
      FIREBASE_IAM_URL: google,
      FIREBASE_FUNCTIONS_DISCOVERY_OUTPUT_PATH: 'true',
      FUNCTIONS_DISCOVERY_TIMEOUT: '120',
      NODE_OPTIONS: '',
    };
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), 'utf8');
  }

  /** The app, the packages beside its `firebase.json`, and the codebase that `cairn init` adds. */
  async adopt(): Promise<void> {
    cpSync(join(ROOT, 'examples/existing-app'), this.root, { recursive: true });
    const { stdout } = await this.#run(process.execPath, [
      join(ROOT, 'scripts/pack.mjs'),
      this.#at('packed'),
    ]);
    const { tarballs, kits } = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Record<
      'tarballs' | 'kits',
      Readonly<Record<string, string>>
    >;
    for (const [name, tarball] of Object.entries({ ...tarballs, ...kits })) {
      const folder = this.#at(`node_modules/${name}`);
      mkdirSync(folder, { recursive: true });
      await this.#run('tar', ['-xzf', tarball, '-C', folder, '--strip-components', '1']);
    }
    const cli = this.#at('node_modules/@cairn/cli/lib/main.js');
    await this.#run(process.execPath, [cli, 'init', '--yes', '--no-install']);
  }

  /** The folder of a kit whose module is compiled to CommonJS, as `functions:kits:install --package` makes it. */
  writeTypescriptKit(folder: string): void {
    const template = (name: string) => readFileSync(join(TEMPLATES, name), 'utf8');
    this.write(
      `${folder}/src/index.ts`,
      template('index-kit.ts').replaceAll('{{PACKAGE_NAME}}', '@cairn/calls'),
    );
    const manifest = JSON.parse(template('package-kit.json').replaceAll('{{RUNTIME}}', '24'));
    this.write(`${folder}/package.json`, JSON.stringify({ ...manifest, devDependencies: {} }));
    this.write(`${folder}/tsconfig.json`, template('tsconfig.json'));
  }

  /** The folder of a kit, as the documentation shows it. */
  writeDocumentedKit(folder: string): void {
    const blocks = readDocument('docs/kit.md').matchAll(/^```(json|js)\n([\s\S]*?)^```/gm);
    const texts = Object.fromEntries([...blocks].map(([, language = '', text = '']) => [language, text]));
    this.write(
      `${folder}/package.json`,
      JSON.stringify({ ...JSON.parse(texts.json ?? ''), dependencies: {} }),
    );
    this.write(`${folder}/index.js`, texts.js ?? '');
  }

  /**
   * Dependencies of the folder are in folders above, so that npm asks no registry for them: they are declared afterwards, for the emulator.
   *
   * @returns what firebase-tools says
   */
  async installKit(folder: string): Promise<string> {
    const words = ['functions:kits:install', '--directory', folder, '--no-configure', '--non-interactive'];
    const bin = join(TOOLS, 'lib/bin/firebase.js');
    const { stdout } = await this.#run(process.execPath, [bin, ...words, '--project', PROJECT_ID]);
    const manifest = JSON.parse(this.read(`${folder}/package.json`)) as object;
    this.write(`${folder}/package.json`, JSON.stringify({ ...manifest, dependencies: DEPENDENCIES }));
    return stdout;
  }

  /** Ids of the instances of a kit, in the order in which they were installed. */
  instancesOf(kit: string): string[] {
    const { functions } = JSON.parse(this.read('firebase.json')) as { functions: readonly Kit[] };
    return Object.keys(functions.find((one) => one.kit === kit)?.instances ?? {});
  }

  configure(kit: string, instance: string, values: Readonly<Record<string, string>>): void {
    this.write(`function-kits/${kit}/config-${instance}/.env.${PROJECT_ID}`, envFile(values));
  }

  /** By codebase and instance. */
  async discover(): Promise<Readonly<Record<string, Build>>> {
    const script = join(import.meta.dirname, 'discover.mjs');
    const { stdout } = await this.#run(process.execPath, [script, TOOLS, this.root, PROJECT_ID]);
    return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Record<string, Build>;
  }

  dispose(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  #at(path: string): string {
    return join(this.root, path);
  }

  async #run(command: string, words: readonly string[]) {
    const options = {
      cwd: this.root,
      env: this.#env,
      encoding: 'utf8',
      maxBuffer: MAX_OUTPUT_BYTES,
    } as const;
    return promisify(execFile)(command, words, options).catch(
      (error: Error & { stdout?: string; stderr?: string }) => {
        throw new Error(`${command} ${words.join(' ')}: ${error.message}\n${error.stdout}\n${error.stderr}`);
      },
    );
  }
}
