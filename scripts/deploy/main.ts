/**
 * `npm run deploy`: checks that a deployment can succeed, then runs the pinned firebase-tools (docs/deploy.md). Changes nothing
 * unless every check passes.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type DeployOptions, invocationOf, parseArguments, USAGE, UsageError } from './arguments.ts';
import { loadFirebaseTools, NotLoggedIn } from './firebase-tools.ts';
import { factsOf, isDeployed, setUp } from './google.ts';
import { closingMessage, type ProcessEnd, uncheckedMessage } from './messages.ts';
import { type Problem, problemsOf } from './preflight.ts';
import { type LocalProject, parameterOf, readProject } from './project.ts';
import { makeQueues, queueCount } from './queues.ts';
import { assertShards } from './shards.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const EXIT = { refused: 1, usage: 2, notLoggedIn: 3 };

try {
  const options = parseArguments(process.argv.slice(2));
  if (options === undefined) process.stdout.write(`${USAGE}\n`);
  else process.exitCode = await deploy(options);
} catch (error) {
  const { message } = error as Error;
  say(message);
  process.exitCode =
    error instanceof UsageError ? EXIT.usage : error instanceof NotLoggedIn ? EXIT.notLoggedIn : EXIT.refused;
}

async function deploy(options: DeployOptions): Promise<number> {
  const local = readProject(ROOT, options.config, options.project);
  const count = queueCount(parameterOf(local, 'DRIVE_QUEUES'));
  assertShards(parameterOf(local, 'RUN_SHARDS'));
  const interactive = Boolean(process.stdin.isTTY);
  const left = await prepared(local, options).catch((error: Error) => {
    throw error.name === 'FirebaseError' ? new Error(uncheckedMessage(error.message)) : error;
  });
  if (left.length > 0) {
    for (const { message, help } of left) say(`${message}\n    ${help}`);
    if (!options.setUp && left.some((problem) => problem.setUp))
      say('The same command with --set-up creates what is missing.');
    say('Nothing was deployed.');
    return EXIT.refused;
  }
  const { argv, env } = invocationOf(options, local.project, interactive);
  const codebases = local.codebases.map(({ name }) => name).join(',');
  const end = await firebase(local.folder, argv, { ...env, CAIRN_DEPLOY_CODEBASES: codebases });
  const closing = closingMessage(end, options.dryRun);
  if (closing !== undefined) say(closing);
  else if (!options.dryRun && targetsOf(options).has('functions')) await furtherQueues(local, count);
  return end.code ?? EXIT.refused;
}

/** Until these queues exist, tasks go into the queue of the function. */
async function furtherQueues(local: LocalProject, count: number): Promise<void> {
  const { project, codebases, folder } = local;
  const names = codebases.map(({ name }) => name);
  try {
    const made = await makeQueues(await loadFirebaseTools(ROOT, folder), {
      project,
      codebases: names,
      count,
    });
    if (made.length > 0) say(`further queues: ${made.length}`);
  } catch (error) {
    throw new Error(
      `The functions are deployed, but not all further queues exist: ${(error as Error).message}\n` +
        '    Runs continue with the others. Run the same command again to create the rest.',
    );
  }
}

function targetsOf({ only }: DeployOptions): ReadonlySet<string> {
  return new Set(only.split(',').map((one) => one.split(':')[0] ?? ''));
}

/** @returns the remaining problems */
async function prepared(local: LocalProject, options: DeployOptions): Promise<readonly Problem[]> {
  const { project, codebases, folder, createdDatabase } = local;
  const tools = await loadFirebaseTools(ROOT, folder);
  const topic = parameterOf(local, 'RUN_EVENTS_TOPIC') || undefined;
  const database = parameterOf(local, 'FIRESTORE_DATABASE') || '(default)';
  const names = codebases.map(({ name }) => name);
  const targets = targetsOf(options);
  const deployedBefore = await isDeployed(tools, project, names);
  const facts = await factsOf(tools, { project, topic, database });
  const problems = problemsOf(facts, { targets, deployedBefore, createdDatabase });
  const stays = problems.filter((problem) => !problem.setUp);
  // Creates nothing while other problems would make the deployment fail.
  if (!options.setUp || stays.length > 0) return problems;
  for (const problem of problems)
    if (problem.setUp) say(`set up: ${await setUp(tools, project, problem.setUp)}`);
  // An enabled API can say more.
  return problems.some(({ code }) => code === 'API') ? prepared(local, options) : [];
}

async function firebase(
  cwd: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<ProcessEnd> {
  const wrapper = fileURLToPath(new URL('firebase.cjs', import.meta.url));
  const child = spawn(process.execPath, [wrapper, ...argv], {
    cwd,
    stdio: 'inherit',
    // The default limit for reading the functions, 10 s, is too short on a busy machine.
    env: { FUNCTIONS_DISCOVERY_TIMEOUT: '60', ...process.env, ...env },
  });
  const pass = (signal: NodeJS.Signals) => child.kill(signal);
  for (const signal of SIGNALS) process.on(signal, pass);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => resolve({ code }));
    });
  } finally {
    for (const signal of SIGNALS) process.off(signal, pass);
  }
}

function say(line: string): void {
  process.stderr.write(`deploy: ${line}\n`);
}
