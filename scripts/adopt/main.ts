/**
 * `npm run adopt`: adds Cairn to an existing app, as a user would: installs the packed packages into a copy of
 * `examples/existing-app` outside the repository, runs `cairn init` and `cairn dev`, completes a run of the app's own workflow
 * with the app's secret, and removes Cairn again. The last line is JSON. Exit code 0 only if `init` changed only announced files,
 * the undo restores every byte, and at most three commands and 120 s were needed.
 */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { AdoptingProject, changedBetween, isUnseen, type Snapshot, type Started } from './project.ts';
import { type Cloud, orderAndCharge, seenInConsole } from './shop.ts';

const LIMIT_MS = 120_000;
const LIMIT_COMMANDS = 3;
const STRIPE_KEY = 'sk_test_adopt';
/** Files that npm writes during an installation. */
const BY_NPM = ['package-lock.json', 'package.json'];
const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];

const repository = fileURLToPath(new URL('../..', import.meta.url));
const own = fileURLToPath(new URL('./own', import.meta.url));
const packed = mkdtempSync(join(tmpdir(), 'cairn-packed-'));
const shop = new AdoptingProject(join(repository, 'examples/existing-app'), { STRIPE_KEY });
/** Durations of the commands that a user waits for, ms. */
const times: Record<string, number> = {};
let commands = 0;
let editsOfCairn = 0;
let cloud: Started<Cloud> | undefined;
let fault: string | undefined;

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void (cloud?.stop() ?? Promise.resolve()).finally(() => process.exit(1)));
try {
  await adopt(pack());
} catch (error) {
  const { message, stdout, stderr } = error as Error & { stdout?: string; stderr?: string };
  fault = [message, stdout, stderr].filter(Boolean).join('\n');
} finally {
  await cloud?.stop().catch((error: Error) => say(error.message));
  shop.dispose();
  rmSync(packed, { recursive: true, force: true });
}
if (fault !== undefined) process.stderr.write(`adopt: ${fault}\n`);
process.stdout.write(
  `${JSON.stringify({ ok: fault === undefined, commands, editsOfCairn, totalMs: total(), ...times })}\n`,
);
process.exitCode = fault === undefined ? 0 : 1;

async function adopt(tarballs: readonly string[]): Promise<void> {
  say("the app as it is: its functions' packages are installed");
  shop.run('npm', ['install', ...QUIET], 'functions');
  const before = shop.snapshot();

  await person('installMs', () => shop.run('npm', ['install', '--save-dev', ...QUIET, ...tarballs]));
  const packages = shop.installed();
  const output = await person('initMs', () => shop.run('npx', ['cairn', 'init', '--yes', '--json']));
  const added = shop.snapshot();
  expectAnnounced(before, added, output);

  // The developer's own work: a workflow in place of the example.
  cpSync(own, join(shop.root, 'cairn/src'), { recursive: true });
  cloud = await person('devMs', () => shop.start<Cloud>('npx', ['cairn', 'dev', '--json', '--port', '0']));
  const { runId, runMs } = await orderAndCharge(cloud.ready, STRIPE_KEY);
  times.runMs = Math.round(runMs);
  await seenInConsole(cloud.ready, runId);
  say(`run ${runId} of the app's own workflow completed with its secret, and is in the console`);
  const code = await cloud.stop();
  cloud = undefined;
  expect(code === 0, `cairn dev ended with ${code} after SIGTERM`);

  expectDeployable();
  restoreInit(added);
  shop.run('npx', ['cairn', 'init', '--undo', '--yes']);
  const left = changedBetween(before, shop.snapshot()).filter((path) => !BY_NPM.includes(path));
  expect(left.length === 0, `cairn init --undo has not restored ${left.join(', ')}`);
  say('cairn init --undo restored every byte');

  editsOfCairn = changedBetween(packages, shop.installed()).length;
  expect(editsOfCairn === 0, `${editsOfCairn} files of the installed packages were changed`);
  expect(commands <= LIMIT_COMMANDS, `${commands} commands were needed; the limit is ${LIMIT_COMMANDS}`);
  expect(total() <= LIMIT_MS, `it took ${total()} ms, more than ${LIMIT_MS}; npm's cache may have been cold`);
}

/** @returns the paths of the tarballs */
function pack(): readonly string[] {
  say('packing the packages');
  const lines = shop
    .run(process.execPath, [join(repository, 'scripts/pack.mjs'), packed])
    .trimEnd()
    .split('\n');
  const { tarballs } = JSON.parse(lines.at(-1) ?? '') as { tarballs: Readonly<Record<string, string>> };
  return Object.values(tarballs);
}

/** Runs a command of the user, and measures its duration. */
async function person<T>(name: string, give: () => T | Promise<T>): Promise<T> {
  const begun = performance.now();
  const result = await give();
  commands += 1;
  times[name] = Math.round(performance.now() - begun);
  say(`${name.replace('Ms', '')}: ${times[name]} ms`);
  return result;
}

interface Announced {
  readonly changes: readonly { readonly path: string }[];
  readonly installed: readonly string[];
}

interface FirebaseJson {
  readonly functions: unknown;
  readonly firestore: object;
  readonly hosting: unknown;
}

/** Checks that only announced files differ, and that `firebase.json` keeps the entries of the app. */
function expectAnnounced(before: Snapshot, after: Snapshot, said: string): void {
  const { changes, installed } = JSON.parse(said) as Announced;
  const announced = [
    ...changes.map(({ path }) => path),
    ...installed.filter((path) => !isUnseen(path)),
  ].sort();
  const differing = changedBetween(before, after).filter((path) => !BY_NPM.includes(path));
  expect(isDeepStrictEqual(differing, announced), `init announced ${announced}, and changed ${differing}`);
  const [old, now] = [before, after].map(
    (files) => JSON.parse(Buffer.from(files['firebase.json'] ?? '', 'base64').toString()) as FirebaseJson,
  );
  const theirs = {
    functions: [now?.functions].flat()[0],
    firestore: [now?.firestore].flat()[0],
    hosting: now?.hosting,
  };
  const wanted = { ...old, firestore: { database: '(default)', ...old?.firestore } };
  expect(isDeepStrictEqual(theirs, wanted), `firebase.json says ${JSON.stringify(theirs)} of the app`);
  say(
    `init changed ${announced.length} files, as announced; rules, indexes, site and functions are byte-equal`,
  );
}

/** Checks that the codebase can be installed and loaded from its own folder, which is all that a deployment uploads. */
function expectDeployable(): void {
  const uploaded = mkdtempSync(join(tmpdir(), 'cairn-uploaded-'));
  try {
    shop.upload('cairn', uploaded);
    shop.run('npm', ['install', '--omit=dev', ...QUIET], uploaded);
    const list = "import('./src/index.js').then((all) => console.log(Object.keys(all.cairn).join()))";
    const names = shop.run(process.execPath, ['-e', list], uploaded);
    expect(names.includes('api,drive,driveAlone'), `the uploaded codebase exports ${names}`);
    say('the codebase can be installed and loaded without the rest of the project');
  } finally {
    rmSync(uploaded, { recursive: true, force: true });
  }
}

/** Reverts the developer's own work, so that the undo leaves no file. */
function restoreInit(added: Snapshot): void {
  for (const path of changedBetween(added, shop.snapshot())) {
    const content = added[path];
    if (content === undefined) rmSync(join(shop.root, path));
    else writeFileSync(join(shop.root, path), Buffer.from(content, 'base64'));
  }
}

function total(): number {
  return Object.values(times).reduce((sum, ms) => sum + ms, 0);
}

function expect(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}

function say(line: string): void {
  process.stderr.write(`adopt: ${line}\n`);
}
