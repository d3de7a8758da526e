/**
 * `cairn dev`: the functions of a project on the local cloud, reloaded when a source file changes. Owns the order of
 * building, checking, serving and reporting. Resolves when everything has ended.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { StorageFullError, storageError } from '@cairn/local-kit/sqlite/storage-full';
import { DamagedDataError, NewerDataError } from '@cairn/local-kit/sqlite/witness';
import { DEFAULT_PROJECT, type LocalCloud, startLocalCloud } from '../cloud.ts';
import { DataDirBusyError, DataDirUnusableError } from '../data-dir/lock.ts';
import { collectAll } from '../idle-gc.ts';
import { Builds } from './builds.ts';
import { Children } from './children.ts';
import { isJavaScript } from './entry.ts';
import { valuesOf } from './env-files.ts';
import { greeting } from './greeting.ts';
import { missingPackage } from './linked-packages.ts';
import { LoadReports } from './load-reports.ts';
import {
  forMachine,
  forPerson,
  type Paint,
  type ParsedLogLine,
  readLine,
  type Severity,
} from './log-line.ts';
import { modulesBelow } from './module-files.ts';
import { assertFree, type DevPorts, portsFrom } from './ports.ts';
import { DevProblem } from './problem.ts';
import {
  codebasesOf,
  type DevCodebase,
  effectOf,
  isIgnored,
  type ProjectFiles,
  projectFolder,
  unservedIn,
} from './project.ts';
import { namesNoFile, readableError } from './readable-error.ts';
import { reportingSlow, SLOW_LOAD_MS } from './slow-load.ts';
import { watchFiles } from './watch-files.ts';

export { DEFAULT_PORT, MAX_PORT } from './ports.ts';
export { DevProblem } from './problem.ts';

export interface DevOptions {
  /** Current folder: the project, or below it. */
  readonly folder: string;
  /** Names; empty: all of `firebase.json`. */
  readonly codebases: readonly string[];
  /** State directory, or `memory`; default: `.cairn` of the project. */
  readonly data: string | undefined;
  /** The first of the ports; 0: free ones. */
  readonly port: number;
  readonly workers: number;
  readonly projectId: string | undefined;
  /** Starts with the readable data of damaged files in the state directory. */
  readonly acceptDamage: boolean;
  readonly checksTypes: boolean;
  /** One line of JSON for each line of the log. */
  readonly json: boolean;
  readonly paint: Paint;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly interrupted: AbortSignal;
  write(text: string): void;
  /** Epoch ms. */
  now(): number;
}

const FILES: ProjectFiles = {
  exists: existsSync,
  read: (path) => readFileSync(path, 'utf8'),
  real: realpathSync,
};
/** Most files or functions that a line names. */
const MAX_NAMED = 8;
/** Grace period of requests when their workers are replaced: the longest timeout of a function. */
const GRACE_MS = 1_800_000;

/** @throws DevProblem */
export async function dev(options: DevOptions): Promise<void> {
  const root = projectFolder(resolve(options.folder), FILES);
  const codebases = codebasesOf(root, options.codebases, FILES);
  assertInstalled(codebases);
  const ports = portsFrom(options.port);
  await assertFree(ports);
  await using session = new DevSession(options, { root, codebases, ports });
  await session.start();
  await aborted(options.interrupted);
}

interface DevProject {
  readonly root: string;
  readonly codebases: readonly DevCodebase[];
  readonly ports: DevPorts;
}

class DevSession implements AsyncDisposable {
  readonly #options: DevOptions;
  readonly #project: DevProject;
  readonly #projectId: string;
  readonly #children = new Children();
  readonly #builds: Builds;
  readonly #closing: (() => Promise<unknown>)[] = [];
  /** Number of the last reload of a codebase. The failure of an earlier reload is ignored, because a later one replaced it. */
  readonly #reloads = new Map<string, number>();
  /** Codebases of which no version has loaded yet. */
  readonly #unserved = new Set<string>();
  readonly #reports = new LoadReports({
    settingsOf: (codebase) => this.#settingsOf(codebase),
    warn: (event, message, fields) => this.#logEvent(event, message, fields, 'WARNING'),
  });
  #cloud: LocalCloud | undefined;
  /** Changes made before the cloud had started: it may have loaded older files. */
  readonly #changedEarly = new Map<DevCodebase, readonly string[]>();

  constructor(options: DevOptions, project: DevProject) {
    this.#options = options;
    this.#project = project;
    this.#projectId = options.projectId ?? DEFAULT_PROJECT;
    this.#builds = new Builds({
      children: this.#children,
      root: project.root,
      env: options.env,
      log: (source, severity, message) => this.#logLine(source, { severity, message, fields: {} }),
      pause,
    });
  }

  async start(): Promise<void> {
    const { codebases } = this.#project;
    await Promise.all(onePerFolder(codebases).map((codebase) => this.#builds.start(codebase)));
    this.#watch();
    const names = codebases.map(({ name }) => `'${name}'`).join(', ');
    this.#cloud = await this.#reportingSlow(this.#startCloud(), names, 'Nothing is served yet.');
    for (const [codebase, changed] of this.#changedEarly) void this.#reload(codebase, changed);
    if (this.#options.checksTypes)
      for (const codebase of onePerFolder(codebases))
        if (codebase.isChecked) this.#builds.checkTypes(codebase);
    const { gateway, functionsUrl, site, firestore, tasks, pubsub, apiKey, functions, projectId } =
      this.#cloud;
    const addresses = { gateway, functionsUrl, site, firestore, tasks, pubsub, apiKey, functions, projectId };
    if (this.#options.json) this.#logEvent('ready', 'ready', { ...addresses, pids: this.#cloud.pids });
    else this.#options.write(greeting(addresses, { ...this.#project, paint: this.#options.paint }));
    if (this.#options.codebases.length > 0) return;
    for (const { name, why } of unservedIn(this.#project.root, FILES))
      this.#logEvent('not_served', `'${name}' is not served: ${why}`, { codebase: name });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#closing.map((close) => close()), this.#children.stop(), this.#cloud?.stop()]);
  }

  #startCloud(): Promise<LocalCloud> {
    const { data, workers } = this.#options;
    const { root, codebases, ports } = this.#project;
    const starting = startLocalCloud({
      collect: collectAll,
      data: data === undefined ? join(root, '.cairn') : data === 'memory' ? data : resolve(data),
      port: ports.console,
      ports,
      workers,
      projectId: this.#projectId,
      acceptDamage: this.#options.acceptDamage,
      firebaseJson: join(root, 'firebase.json'),
      ownConsole: true,
      codebases: codebases.map((codebase) => ({
        name: codebase.name,
        module: codebase.module,
        prefix: codebase.prefix,
        isPlain: !codebase.hasCairn,
        ...this.#valuesOf(codebase),
      })),
      graceMs: GRACE_MS,
      output: (line, codebase) => this.#logLine(codebase, readLine(line)),
      log: (message) => this.#logLine('cairn', { severity: 'INFO', message, fields: {} }),
      warn: (message) => this.#logLine('cairn', { severity: 'WARNING', message, fields: {} }),
      onNotLoaded: (codebase, error) => {
        this.#unserved.add(codebase);
        void this.#logNotLoaded(codebase, error, () => this.#modulesOf(codebase));
      },
      onPlanFindings: (findings) => this.#reports.findings(findings),
      onMadeUp: (secrets) => this.#reports.generated(secrets),
      onUnset: (codebase, parameters) => this.#reports.unset(codebase, parameters),
    });
    return starting.catch((error: unknown) => {
      throw problemOfData(error) ?? error;
    });
  }

  #watch(): void {
    const { codebases } = this.#project;
    const end = watchFiles({
      folders: new Set(codebases.flatMap(({ folder, settings, linked }) => [folder, settings, ...linked])),
      ignored: (path) =>
        codebases
          .flatMap(({ folder, linked }) => [folder, ...linked])
          .some((folder) => isIgnored(folder, path)),
      take: (paths) => this.#changed(paths),
      onError: (error) => this.#logEvent('watch_failed', String(error), {}, 'ERROR'),
    });
    this.#closing.push(end);
  }

  #changed(paths: ReadonlySet<string>): void {
    const { codebases } = this.#project;
    for (const codebase of onePerFolder(codebases)) {
      const sources = [...paths].filter((path) => ['build', 'both'].includes(effectOf(codebase, path)));
      if (sources.length > 0) void this.#builds.change(codebase, sources);
    }
    for (const codebase of codebases) {
      const effects = [...paths].map((path) => ({ path, effect: effectOf(codebase, path) }));
      const changed = effects
        .filter(({ effect }) => effect === 'reload' || effect === 'both')
        .map(({ path }) => path);
      if (changed.length > 0) void this.#reload(codebase, changed);
    }
  }

  async #reload(codebase: DevCodebase, changed: readonly string[]): Promise<void> {
    const { name } = codebase;
    const cloud = this.#cloud;
    if (cloud === undefined) {
      this.#changedEarly.set(codebase, [...(this.#changedEarly.get(codebase) ?? []), ...changed]);
      return;
    }
    const began = performance.now();
    const before = cloud.functions;
    const reload = (this.#reloads.get(name) ?? 0) + 1;
    this.#reloads.set(name, reload);
    const isLatest = () => this.#reloads.get(name) === reload && !this.#options.interrupted.aborted;
    try {
      const reloading = cloud.reload({ name, ...this.#valuesOf(codebase) });
      await this.#reportingSlow(reloading, `'${name}'`, this.#servedMeanwhile(name));
      this.#unserved.delete(name);
      const tookMs = Math.round(performance.now() - began);
      if (isLatest())
        this.#logEvent(
          'reloaded',
          `reloaded in ${tookMs} ms: ${this.#placesOf(changed)}${this.#goneSince(before)}`,
          {
            codebase: name,
            tookMs,
          },
        );
    } catch (error) {
      if (isLatest()) await this.#logNotLoaded(name, error, () => changed);
    }
  }

  #reportingSlow<T>(loading: Promise<T>, names: string, rest: string): Promise<T> {
    const message = `${names} did not load within ${SLOW_LOAD_MS / 1_000} s. Top-level code of a module may wait for something, or loop forever.\n${rest}`;
    const report = () => {
      if (!this.#options.interrupted.aborted) this.#logEvent('loads_slowly', message, {}, 'WARNING');
    };
    // Does not delay the end of the process.
    return reportingSlow(loading, { report, pause: (ms) => delay(ms, undefined, { ref: false }) });
  }

  /** @param suspects returns files that may be wrong */
  async #logNotLoaded(codebase: string, error: unknown, suspects: () => readonly string[]): Promise<void> {
    const message = error instanceof Error ? error.message : String(error);
    const found = namesNoFile(message) ? await this.#mistakesIn(suspects()) : '';
    const reason = readableError(found || message, this.#project.root);
    const help = error instanceof DevProblem ? ` ${error.help}` : '';
    this.#logEvent(
      'not_loaded',
      `'${codebase}' cannot be loaded: ${reason}${help}\n${this.#servedMeanwhile(codebase)}`,
      { codebase },
      'ERROR',
    );
  }

  #servedMeanwhile(codebase: string): string {
    return this.#unserved.has(codebase)
      ? 'It is loaded again when one of its files changes.'
      : 'The previous version continues to serve.';
  }

  #modulesOf(codebase: string): string[] {
    const found = this.#project.codebases.find(({ name }) => name === codebase);
    return found === undefined ? [] : modulesBelow(found.folder);
  }

  /** Syntax errors that Node reports for these files. */
  async #mistakesIn(paths: readonly string[]): Promise<string> {
    const lines: string[] = [];
    for (const path of paths.filter((one) => isJavaScript(one) && existsSync(one)))
      await this.#children.run({
        command: process.execPath,
        args: ['--check', path],
        cwd: this.#project.root,
        env: this.#options.env,
        line: (text) => lines.push(text),
      });
    return lines.join('\n');
  }

  /** An unreadable file is reported, and the codebase lacks its values. */
  #valuesOf(codebase: DevCodebase) {
    return valuesOf(codebase, this.#projectId, FILES);
  }

  #settingsOf(codebase: string): string {
    const found = this.#project.codebases.find(({ name }) => name === codebase);
    return this.#namesOf(found ? [found.settings] : []).join();
  }

  #placesOf(paths: readonly string[]): string {
    return listed(this.#namesOf(paths));
  }

  /** Text about functions that an edit removed or renamed, because requests for them now fail. */
  #goneSince(before: readonly string[]): string {
    const now = new Set(this.#cloud?.functions);
    const gone = before.filter((name) => !now.has(name));
    return gone.length === 0 ? '' : `; no longer served: ${listed(gone)}`;
  }

  #namesOf(paths: readonly string[]): string[] {
    return paths.map((path) => path.replace(`${this.#project.root}/`, ''));
  }

  #logEvent(
    event: string,
    message: string,
    fields: ParsedLogLine['fields'],
    severity: Severity = 'INFO',
  ): void {
    const { json } = this.#options;
    this.#logLine('cairn', { severity, message, fields: json ? { event, ...fields } : {} });
  }

  #logLine(source: string, line: ParsedLogLine): void {
    const { json, paint, write, now } = this.#options;
    const at = this.#cloud?.clock.now() ?? now();
    const shown = { source, at, root: this.#project.root };
    const text = json ? forMachine(line, shown) : forPerson(line, shown, paint);
    if (text !== undefined) write(`${text}\n`);
  }
}

function listed(names: readonly string[]): string {
  const rest = names.length - MAX_NAMED;
  return rest <= 0 ? names.join(', ') : `${names.slice(0, MAX_NAMED).join(', ')} and ${rest} more`;
}

/** Instances of a kit have one source, which is built once. */
function onePerFolder(codebases: readonly DevCodebase[]): DevCodebase[] {
  return [...new Map(codebases.map((codebase) => [codebase.folder, codebase])).values()];
}

/** @throws DevProblem NOT_INSTALLED */
function assertInstalled(codebases: readonly DevCodebase[]): void {
  for (const { name, folder, dependencies } of codebases) {
    const missing = missingPackage(folder, dependencies, FILES);
    if (missing === undefined) continue;
    throw new DevProblem(
      'NOT_INSTALLED',
      `the codebase '${name}' needs the package '${missing}', which is not installed`,
      `Run: npm --prefix ${folder} install. With another package manager run its install there, or in the workspace that the folder is part of.`,
    );
  }
}

function problemOfData(error: unknown): DevProblem | undefined {
  if (error instanceof DataDirBusyError) {
    const help = 'Stop that process, or choose another directory with --data.';
    return new DevProblem('DATA_IN_USE', error.message, help);
  }
  const { message } = error as Error;
  const help = 'The directory has your runs: delete it only if you no longer need them.';
  if (error instanceof NewerDataError) return new DevProblem('DATA_TOO_NEW', message, help);
  if (error instanceof DamagedDataError) return new DevProblem('DATA_DAMAGED', message, help);
  const known = storageError(error);
  if (!(known instanceof DataDirUnusableError) && !(known instanceof StorageFullError)) return undefined;
  return new DevProblem('DATA_NOT_WRITABLE', known.message, 'Choose another directory with --data.');
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
