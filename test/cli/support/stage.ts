/** Runs the command line over an installation in memory: takes its words, returns both streams and the exit code. */

import { createApi } from '../../../packages/cairn/src/api/app.ts';
import type { BudgetOptions } from '../../../packages/cairn/src/core/budget/day-limits.ts';
import type { Binding } from '../../../packages/cairn/src/engine/define/capability.ts';
import { WorkflowRegistry } from '../../../packages/cairn/src/engine/define/registry.ts';
import type { Workflow } from '../../../packages/cairn/src/engine/define/steps.ts';
import type { EngineDeps } from '../../../packages/cairn/src/engine/deps.ts';
import type { Role } from '../../../packages/cairn/src/ports/access/client-store.ts';
import type { CliCommand } from '../../../packages/cli/src/arguments/command.ts';
import { run } from '../../../packages/cli/src/program.ts';
import type { ProgramEnd, World } from '../../../packages/cli/src/world.ts';
import { Installation } from '../../api/installation.ts';

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface StageOptions {
  readonly columns?: number;
  readonly isTty?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Result of each program that is run. Default: success. */
  readonly program?: ProgramEnd;
  /** Answer typed at a question. Absent: there is no terminal. */
  readonly answer?: string;
  readonly now?: number;
  readonly fetch?: World['fetch'];
  readonly token?: () => string;
}

export interface Listening extends World {
  said(): Pick<Said, 'out' | 'err'>;
  /** Ctrl-C. */
  interrupt(): void;
  /** Programs that were run: folder, command, arguments. */
  readonly programs: readonly string[];
  /** Pauses that were made, ms. */
  readonly pauses: readonly number[];
}

/** A machine that records the output, and whose pauses take no time. */
export function listening(options: StageOptions = {}): Listening {
  const { columns, isTty = false, env = {}, files = {}, stdin = '', now = 0 } = options;
  const said = { out: '', err: '' };
  const interrupted = new AbortController();
  const pauses: number[] = [];
  const programs: string[] = [];
  let tokens = 0;
  const terminal = (to: 'out' | 'err') => ({
    isTty,
    columns,
    write: (text: string) => {
      said[to] += text;
    },
  });
  return {
    env,
    cwd: '/home/ada',
    projectDir: '/project',
    stdout: terminal('out'),
    stderr: terminal('err'),
    interrupted: interrupted.signal,
    fetch: options.fetch ?? (() => Promise.reject(new TypeError('fetch failed'))),
    readFile(path) {
      const text = files[path];
      if (text === undefined)
        throw Object.assign(new Error(`ENOENT: no such file, open '${path}'`), { code: 'ENOENT' });
      return text;
    },
    readStdin: async () => stdin,
    ask: async () => options.answer,
    version: '1.2.3',
    nodeVersion: '24.0.0',
    async runProgram(command, args, cwd) {
      programs.push([cwd, command, ...args].join(' '));
      return options.program ?? { code: 0, output: '' };
    },
    programs,
    now: () => now,
    token: options.token ?? (() => `token${++tokens}`),
    sleep: async (ms) => void pauses.push(ms),
    said: () => ({ ...said }),
    interrupt: () => interrupted.abort(),
    pauses,
  };
}

/** Runs the command line with the words on that machine. */
export async function saying(
  words: readonly string[],
  world: Listening,
  commands?: readonly CliCommand[],
): Promise<Said> {
  const code = await run(words, world, commands);
  return { code, ...world.said() };
}

export class Stage {
  readonly installation: Installation;
  #api: Installation['api'];
  #deps: EngineDeps;
  #tokens = 0;

  constructor(workflows?: readonly Workflow[], bindings?: readonly Binding[], budgets?: BudgetOptions) {
    this.installation = new Installation(workflows, bindings, budgets);
    this.#api = this.installation.api;
    this.#deps = this.installation.world.deps;
  }

  /** Replaces the workflows, over the same database. */
  deploy(workflows: readonly Workflow[]): void {
    const { apiDeps, world } = this.installation;
    const registry = new WorkflowRegistry(workflows);
    this.#deps = { ...world.deps, registry };
    this.#api = createApi({ ...apiDeps, registry });
  }

  /** The API, as the command line reaches it. */
  readonly fetch: World['fetch'] = async (url, init) => {
    const answer = await this.#api.request(new URL(url).href.replace('https://runs.test', ''), init);
    answer.headers.set('date', new Date(this.installation.world.clock.now()).toUTCString());
    return answer;
  };

  /** Runs `cairn …words` with a key of that role. */
  async cairn(
    words: readonly string[],
    { role = 'installation', ...options }: StageOptions & { readonly role?: Role } = {},
  ) {
    const key = await this.installation.key(`key-${role}`, { tenantId: 't1', roles: [role] });
    const env = { CAIRN_URL: 'https://runs.test', CAIRN_API_KEY: key, ...options.env };
    const { clock } = this.installation.world;
    return saying(
      words,
      listening({ now: clock.now(), fetch: this.fetch, token: () => `t${++this.#tokens}`, ...options, env }),
    );
  }

  /** As `cairn`, with the parsed answer. @throws Error unless it exits with 0 */
  async answer<T>(
    words: readonly string[],
    options: StageOptions & { readonly role?: Role } = {},
  ): Promise<T> {
    const output = await this.cairn([...words, '--json'], options);
    if (output.code !== 0)
      throw new Error(`cairn ${words.join(' ')} ended with ${output.code}: ${output.err}`);
    return JSON.parse(output.out) as T;
  }

  /** Drives runs until each has ended or waits for external input. */
  drive(): Promise<void> {
    const { world } = this.installation;
    const moving: readonly string[] = ['pending', 'running', 'replaying', 'interrupted'];
    const isStill = () =>
      [...world.db.runs.values()].every(({ snapshot }) => !moving.includes(snapshot.status));
    return this.driveUntil(isStill);
  }

  /** Delivers tasks and advances time until the condition holds or nothing is left to do. */
  driveUntil(isEnough: () => boolean): Promise<void> {
    return this.installation.world.run(isEnough, this.#deps);
  }
}
