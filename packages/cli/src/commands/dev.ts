/** `dev`: serves the functions of a project on the local cloud, and reloads them when they are edited. */
import { command } from '../arguments/command.ts';
import { Declined, EXIT } from '../exit.ts';
import { servingRefusal } from '../node-version.ts';

/** Default of the local cloud, repeated here because only `run` loads that package. */
const DEFAULT_PORT = 8080;
const MAX_PORT = 65_530;
const INSTALL_NODE = 'Install Node 24, which Cloud Functions runs too, then run cairn dev again.';

export const dev = command({
  name: 'dev',
  summary: 'Serve the functions of this project on the local cloud and reload them on edits',
  details:
    'Your functions and those of Cairn, with Firestore, Cloud Tasks, Pub/Sub, the console and your site, on this machine\nonly. Edits are served while runs continue; an edit that does not load is reported and changes nothing. Ctrl-C stops\neverything.',
  options: {
    codebase: { type: 'list', value: 'NAME', help: 'codebase of firebase.json; repeatable (default: all)' },
    port: {
      type: 'number',
      range: [0, MAX_PORT],
      help: `first of six ports (default ${DEFAULT_PORT}; 0: any free ports)`,
    },
    data: { type: 'text', value: 'DIR', help: "keep state in DIR (default .cairn); 'memory' keeps none" },
    workers: { type: 'number', range: [1, 64], help: 'processes that run steps (default 1)' },
    project: { type: 'text', value: 'ID', help: 'project id (default demo-cairn)' },
    'accept-damage': {
      type: 'flag',
      help: 'start with the readable data of damaged files, and keep the files as *.damaged',
    },
    'no-types': { type: 'flag', help: 'do not check types' },
  },
  examples: [
    ['dev', 'in the folder of firebase.json or below it'],
    ['dev --port 9000', 'console at 9000, functions at 9001, and so on'],
    ['dev --json', 'each line of the log as JSON, for programs'],
  ],
  async run({ world, out }, { options }) {
    const { codebase, port = DEFAULT_PORT, data, workers = 1, project } = options;
    const message = servingRefusal(world.nodeVersion);
    // Checked first, because an old Node cannot load the local cloud.
    if (message !== undefined) throw new DevDeclined({ code: 'NODE_TOO_OLD', message, help: INSTALL_NODE });
    const local = await import('@cairn/local/dev');
    try {
      await local.dev({
        folder: world.cwd,
        codebases: codebase,
        data,
        port,
        workers,
        projectId: project,
        acceptDamage: options['accept-damage'],
        checksTypes: !options['no-types'],
        json: out.json,
        paint: out.style.paint,
        env: world.env,
        interrupted: world.interrupted,
        write: (text) => out.print(text),
        now: world.now,
      });
    } catch (error) {
      if (error instanceof local.DevProblem) throw new DevDeclined(error);
      throw error;
    }
    return undefined;
  },
});

/** Refusal of the local cloud to serve a project. */
class DevDeclined extends Declined {
  override readonly name = 'DevDeclined';
  override readonly code: string;

  constructor({
    code,
    message,
    help,
  }: { readonly code: string; readonly message: string; readonly help: string }) {
    super(message, help, EXIT.failed);
    this.code = code;
  }
}
