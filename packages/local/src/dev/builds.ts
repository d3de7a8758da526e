/** Runs the build of a codebase and its type check beside its functions. Owns the order of these processes, and their output. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { BuildTriggers } from './build-triggers.ts';
import type { Children } from './children.ts';
import { diagnosisIn, reportsError } from './compiler-output.ts';
import type { Severity } from './log-line.ts';
import { DevProblem } from './problem.ts';
import type { DevCodebase } from './project.ts';

interface BuildsOptions {
  readonly children: Pick<Children, 'run' | 'isStopping'>;
  /** Folder of the project, where packages may be installed for all codebases. */
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  log(source: string, severity: Severity, message: string): void;
  pause(ms: number): Promise<void>;
}

/** Limit for the first output of a watching build, ms. */
const FIRST_OUTPUT_MS = 120_000;
const POLL_MS = 100;
/** Longest delay until a changed file is reported, ms (watch-files.ts). */
const REPORTED_MS = 500;
/** Quiet time after which a file that changes during the next build was not saved by a person, ms. Longer than the autosave delay of editors. */
const QUIET_MS = 2_000;

export class Builds {
  readonly #options: BuildsOptions;
  /** Codebases whose build is running; true: the build runs once more afterwards. */
  readonly #running = new Map<string, boolean>();
  readonly #triggers = new Map<string, BuildTriggers>();

  constructor(options: BuildsOptions) {
    this.#options = options;
  }

  /** Resolves when the module of the codebase exists. @throws DevProblem ENTRY_NOT_FOUND */
  async start(codebase: DevCodebase): Promise<void> {
    const { module, build, name } = codebase;
    if (build === undefined) return;
    const code = build.script === 'build' ? await this.#build(codebase) : 0;
    if (build.script === 'build:watch') {
      let hasEnded = false;
      void this.#run(codebase, 'build:watch').then((code) => {
        hasEnded = true;
        if (this.#options.children.isStopping) return;
        this.#options.log(`${name} build`, 'ERROR', `build:watch exited with code ${code}`);
      });
      const until = performance.now() + FIRST_OUTPUT_MS;
      while (!existsSync(module) && !hasEnded && performance.now() < until)
        await this.#options.pause(POLL_MS);
    }
    if (existsSync(module)) return;
    throw new DevProblem(
      'ENTRY_NOT_FOUND',
      `the codebase '${name}' has no ${module}`,
      helpWithout(build.script, code),
    );
  }

  /**
   * Runs the script `build` after a change of sources, unless the build wrote them itself. If the build is already running, resolves at
   * once, and the build runs once more afterwards; otherwise resolves when all builds have ended.
   */
  async change(codebase: DevCodebase, paths: readonly string[]): Promise<void> {
    const { name, folder } = codebase;
    const triggers = this.#triggers.get(name) ?? new BuildTriggers();
    this.#triggers.set(name, triggers);
    const { isStarted, written } = triggers.change(paths);
    if (written.length > 0) {
      const files = written.map((path) => relative(folder, path)).join(', ');
      const message = `the build writes ${files}: changes of these files during a build do not start another build`;
      this.#options.log(`${name} build`, 'INFO', message);
    }
    if (!isStarted) return;
    if (this.#running.has(name)) {
      this.#running.set(name, true);
      return;
    }
    let isAfterQuiet = false;
    do {
      await this.#buildWhileChanged(codebase, triggers, isAfterQuiet);
      isAfterQuiet = true;
    } while (triggers.isUncertain && (await this.#staysQuiet(triggers)));
  }

  async #buildWhileChanged(
    codebase: DevCodebase,
    triggers: BuildTriggers,
    isAfterQuiet: boolean,
  ): Promise<void> {
    const { name } = codebase;
    const { children, pause } = this.#options;
    let isFirst = true;
    do {
      this.#running.set(name, false);
      triggers.began({ isAfterQuiet: isAfterQuiet && isFirst });
      isFirst = false;
      await this.#build(codebase);
      await pause(REPORTED_MS);
      triggers.ended();
    } while (this.#running.get(name) === true && !children.isStopping);
    this.#running.delete(name);
  }

  /** False if another change started a build meanwhile, or if everything is being stopped. */
  async #staysQuiet(triggers: BuildTriggers): Promise<boolean> {
    const { builds } = triggers;
    await this.#options.pause(QUIET_MS);
    return triggers.builds === builds && !this.#options.children.isStopping;
  }

  async #build(codebase: DevCodebase): Promise<number> {
    const code = await this.#run(codebase, 'build');
    if (code !== 0)
      this.#options.log(`${codebase.name} build`, 'ERROR', `the build failed with code ${code}`);
    return code;
  }

  /** Watches with the TypeScript of the project; logs if it has none. */
  checkTypes({ name, folder }: DevCodebase): void {
    const { children, root, env, log } = this.#options;
    const source = `${name} types`;
    const compiler = compilerOf(folder) ?? compilerOf(root);
    if (compiler === undefined) {
      log(source, 'INFO', 'types not checked: typescript is not installed in the project');
      return;
    }
    const flags = ['--noEmit', '--watch', '--preserveWatchOutput', '--pretty', 'false'];
    const line = (text: string) => {
      const diagnosis = diagnosisIn(text);
      if (diagnosis) log(source, diagnosis.isError ? 'ERROR' : 'INFO', diagnosis.text);
    };
    void children.run({ command: process.execPath, args: [compiler, ...flags], cwd: folder, env, line });
  }

  #run({ name, folder }: DevCodebase, script: string): Promise<number> {
    const { children, env, log } = this.#options;
    // A watching compiler clears the screen, even if its output is a pipe.
    const line = (printed: string) => {
      const text = stripVTControlCharacters(printed);
      if (text.trim() !== '') log(`${name} build`, reportsError(text) ? 'ERROR' : 'INFO', text);
    };
    return children.run({ command: 'npm', args: ['run', '--silent', script], cwd: folder, env, line });
  }
}

/** Advice for a codebase without its module. @param code of its script */
function helpWithout(script: string | undefined, code: number): string {
  if (script === undefined) return 'Build it, or add a script "build" or "build:watch" to its package.json.';
  return code === 0
    ? `Its script "${script}" does not write it.`
    : `Its script "${script}" failed: correct what it reports above, then run cairn dev again.`;
}

/** Main of the TypeScript that is installed for the folder. */
function compilerOf(folder: string): string | undefined {
  try {
    const manifest = createRequire(join(folder, 'package.json')).resolve('typescript/package.json');
    return join(dirname(manifest), 'bin/tsc');
  } catch {
    return undefined;
  }
}
