/**
 * The dialogue of `init` in its order; `src/init/` decides and writes. Loaded only by this command, because nothing else needs
 * the JSON parser.
 */
import { join } from 'node:path';
import { declined, SAY_YES } from '../../confirm.ts';
import type { CommandContext } from '../../context.ts';
import { apply, type Restored, removeUnplaced, undo } from '../../init/edits.ts';
import { type Files, filesOf, readingOnly } from '../../init/files.ts';
import { readFirebaseJson } from '../../init/firebase-json.ts';
import { hasItsPackages } from '../../init/installed-packages.ts';
import { alone } from '../../init/lock.ts';
import { initOf } from '../../init/naming.ts';
import { assertName, type FileChange, type InitPlan, planOf } from '../../init/plan.ts';
import { InitProblem } from '../../init/problem.ts';
import {
  type InstalledPackage,
  installationsIn,
  packageManagerOf,
  projectFolder,
  readProject,
  usablePackage,
} from '../../init/project.ts';
import { decodeRecord, type InitRecord, recordPath } from '../../init/record.ts';
import { applyUpgrade, isVersioned, type UpgradePlan, upgradeOf } from '../../init/upgrade.ts';
import { asCalled } from '../../invocation.ts';
import type { Style } from '../../render/style.ts';
import { clean, wrap } from '../../render/width.ts';
import { INSTALL, nextSteps, nextStepsOfUpgrade, stepsAfterUndo, stepsText } from './next-steps.ts';

interface InitRequest {
  readonly name: string;
  readonly language: 'ts' | 'js' | undefined;
  readonly region: string | undefined;
  readonly undo: boolean;
  readonly mayAsk: boolean;
  /** True if `init` may run npm; other package managers are run by the user. */
  readonly installs: boolean;
}

/** @throws InitProblem */
export async function initOrUndo(context: CommandContext, request: InitRequest): Promise<void> {
  assertName(request.name);
  const root = projectFolder(context.world.cwd);
  await alone(root, () => initOrUndoIn(root, context, request));
}

async function initOrUndoIn(root: string, context: CommandContext, request: InitRequest): Promise<void> {
  const { name, mayAsk } = request;
  const place: InitTarget = { root, name, files: filesOf(root), mayAsk };
  const record = recordIn(place);
  if (record === undefined) removeUnplaced(name, place.files);
  if (request.undo) await takeOut(context, place, record);
  else if (record === undefined) await add(context, place, request);
  else {
    assertWhole(place);
    noteUnused(context, record, request);
    const installed = usablePackage(root);
    const upgrade = installed && upgradeFor(place, record, installed);
    if (upgrade && !upgrade.onlyIgnores) await carryOut(upgrade, { context, place, request });
    else {
      const read = (path: string) => place.files.read(path);
      const wanted = isVersioned(record, read) ? installed : undefined;
      const isInstalled = hasItsPackages(wanted, (path) => read(`${name}/${path}`));
      const { cairn } = record;
      if (upgrade) return addIgnores(upgrade, { context, place, isInstalled });
      if (isInstalled || !installsIn(root, request)) printAdded(context, place, { cairn, isInstalled });
      else await completeInstallation(context, place, cairn);
    }
  }
}

/** Names the given options that apply only to a new codebase. */
function noteUnused(context: CommandContext, { name, created }: InitRecord, request: InitRequest): void {
  const { path } = created.find((file) => /(^|\/)index\.[jt]s$/.test(file.path)) ?? { path: name };
  const notes: string[] = [];
  if (request.region !== undefined)
    notes.push(
      `--region changes no codebase that is there. The region of '${name}' is in ${clean(path)}; docs/deploy.md, step 7, says what a change of it does.`,
    );
  if (request.language !== undefined)
    notes.push(`--language changes no codebase that is there, such as '${name}'.`);
  if (notes.length > 0) print(context, `${advised(notes)}\n`);
}

interface InitTarget {
  readonly root: string;
  readonly name: string;
  readonly files: Files;
  readonly mayAsk: boolean;
}

function recordIn({ files, name }: InitTarget): InitRecord | undefined {
  const bytes = files.read(recordPath(name));
  return bytes && decodeRecord(Buffer.from(bytes).toString('utf8'), name);
}

async function add(context: CommandContext, place: InitTarget, request: InitRequest): Promise<void> {
  const { language, region } = request;
  const { root, name, files } = place;
  const project = readProject(root, files);
  const { nodeVersion } = context.world;
  const isTaken = files.read(name) !== undefined || !isLeft(files, name);
  const plan = planOf(project, { name, language, region, nodeVersion, isTaken });
  const isInstalled = installsIn(root, request);
  print(context, planText(plan, { ...place, isInstalled }, context.notes.style));
  await confirm(context, place, 'Change these files?');
  apply(plan.changes, files);
  if (isInstalled) await install(context, place);
  const next = nextSteps(place, isInstalled);
  const changes = plan.changes.map(listedChange);
  const installed = isInstalled ? installedPaths(name) : [];
  const { region: found, advice } = plan;
  context.out.answer({ root, name, region: found.region, changes, advice, installed, next }, ({ style }) => {
    return `${style.paint('good', '✓')} Cairn is added. Next:\n\n${stepsText(next, style)}`;
  });
}

/**
 * True for a folder left by an interrupted `init`, or by version control, which keeps ignored files when it reverts an `init`.
 */
function isLeft(files: InitTarget['files'], folder: string): boolean {
  const names = files.names(folder);
  if (!names.includes('node_modules')) return names.length === 0;
  // A folder that is not Cairn's may have its sources in `lib`.
  const isBuilt = Buffer.from(files.read(`${folder}/lib/index.js`) ?? []).includes('cairnFunctions');
  return names.every(
    (name) => name === 'node_modules' || (name === 'lib' && isBuilt) || name.endsWith('.local'),
  );
}

function listedChange({ path, before, what }: FileChange) {
  return { path, change: before === undefined ? 'create' : 'edit', what };
}

interface Upgrade extends UpgradePlan {
  readonly from: string;
  readonly to: string;
}

/** Undefined if there is nothing to change. */
function upgradeFor(
  { root, files }: InitTarget,
  record: InitRecord,
  installed: InstalledPackage,
): Upgrade | undefined {
  const source = { installed, packageManager: packageManagerOf(root) };
  const plan = upgradeOf(record, source, (path) => files.read(path));
  return plan && { ...plan, from: record.cairn, to: installed.version };
}

interface UpgradeConversation {
  readonly context: CommandContext;
  readonly place: InitTarget;
  readonly request: InitRequest;
}

async function carryOut(upgrade: Upgrade, { context, place, request }: UpgradeConversation): Promise<void> {
  const { changes, unused, advice, from, to } = upgrade;
  const { root, name, files } = place;
  const isInstalled = installsIn(root, request);
  const { style } = context.notes;
  const lines = [
    ...changeLines(changes, style),
    ...unused.map((path) => `  remove  ${clean(path)}\n`),
    ...(isInstalled ? [`  run     ${INSTALL.npm(name)}\n`] : []),
  ];
  const versions = from === to ? `the installed build of Cairn ${to}` : `Cairn ${to} in place of ${from}`;
  print(
    context,
    `cairn init in ${clean(root)} gives '${name}' ${versions}:\n\n${lines.join('')}\n${advised(advice)}\n`,
  );
  await confirm(context, place, 'Change these files?');
  applyUpgrade(name, upgrade, files);
  if (isInstalled) await install(context, place);
  const next = nextStepsOfUpgrade(place, isInstalled);
  const installed = isInstalled ? installedPaths(name) : [];
  context.out.answer(
    { root, name, from, to, changes: changes.map(listedChange), removed: unused, advice, installed, next },
    () => `${style.paint('good', '✓')} '${name}' has Cairn ${to}. Next:\n\n${stepsText(next, style)}`,
  );
}

interface IgnoresConversation {
  readonly context: CommandContext;
  readonly place: InitTarget;
  readonly isInstalled: boolean;
}

async function addIgnores(
  upgrade: Upgrade,
  { context, place, isInstalled }: IgnoresConversation,
): Promise<void> {
  const { changes, from, to } = upgrade;
  const { root, name } = place;
  const { style } = context.notes;
  const lines = changeLines(changes, style).join('');
  print(context, `cairn init in ${clean(root)} adds lines of .gitignore for '${name}':\n\n${lines}\n`);
  await confirm(context, place, 'Change these files?');
  applyUpgrade(name, upgrade, place.files);
  const next = missingInstallation(place, isInstalled);
  const answer = { changes: changes.map(listedChange), removed: [], advice: [], installed: [], next };
  context.out.answer({ root, name, from, to, ...answer }, () => {
    const steps = next.length === 0 ? '' : ` Next:\n\n${stepsText(next, style)}`;
    return `${style.paint('good', '✓')} .gitignore has the lines of Cairn ${to} for '${name}'.${steps || '\n'}`;
  });
}

/** Most characters of npm's output in an error. */
const MAX_TOLD_CHARS = 2_000;
/** Files that npm creates. */
const installedPaths = (name: string) => [`${name}/node_modules`, `${name}/package-lock.json`];

/** True if `init` runs npm itself. */
function installsIn(root: string, { installs }: InitRequest): boolean {
  return installs && packageManagerOf(root) === 'npm';
}

async function install(context: CommandContext, { root, name }: InitTarget): Promise<void> {
  print(context, `Installing the packages of ${name}/ …\n`);
  const folder = join(root, name);
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error'];
  const { code, output } = await context.world.runProgram('npm', args, folder);
  if (code === 0) return;
  throw new InitProblem(
    'INSTALL_FAILED',
    `the files are in their places, but npm install failed: ${output.trim().slice(-MAX_TOLD_CHARS)}`,
    `Correct what npm names, then run ${initOf(name)} again: it installs them. ${initOf(name, '--undo')} takes everything back.`,
  );
}

/** Installs what is missing after a failed installation or in a fresh clone. */
async function completeInstallation(
  context: CommandContext,
  place: InitTarget,
  version: string,
): Promise<void> {
  const { root, name } = place;
  print(context, `${withoutPackages(name, version)}.\n`);
  await install(context, place);
  const next = nextSteps(place, true);
  context.out.answer(
    { root, name, changes: [], installed: installedPaths(name), next },
    ({ style }) =>
      `${style.paint('good', '✓')} The packages of ${name}/ are installed. Next:\n\n${stepsText(next, style)}`,
  );
}

function withoutPackages(name: string, version: string): string {
  return `Cairn ${version} was added as '${name}', but the packages of ${name}/ are not installed`;
}

/** An interrupted `init` left its record, which is written first. */
function assertWhole({ name, files }: InitTarget): void {
  const text = Buffer.from(files.read('firebase.json') ?? []).toString('utf8');
  if (readFirebaseJson(text).functions.some(({ codebase }) => codebase === name)) return;
  throw new InitProblem(
    'INIT_INTERRUPTED',
    `${recordPath(name)} says that Cairn was added, but firebase.json has no codebase '${name}'`,
    `An earlier cairn init was interrupted, or the entry was removed. Run ${initOf(name, '--undo')}, then ${initOf(name)}.`,
  );
}

interface AddedCodebase {
  /** Version of Cairn. */
  readonly cairn: string;
  /** False if packages of its package.json are missing or have another version. */
  readonly isInstalled: boolean;
}

/** The command that installs what is missing. */
function missingInstallation(place: InitTarget, isInstalled: boolean) {
  return nextSteps(place, isInstalled).slice(0, isInstalled ? 0 : 1);
}

function printAdded({ out }: CommandContext, place: InitTarget, { cairn, isInstalled }: AddedCodebase): void {
  const { root, name } = place;
  const next = missingInstallation(place, isInstalled);
  const steps = next.map(({ command }) => `${withoutPackages(name, cairn)}: run ${command}\n`).join('');
  out.answer({ root, name, changes: [], installed: [], next }, ({ call }) => {
    const all = isInstalled ? `Nothing to change: Cairn ${cairn} was added as '${name}'.\n` : steps;
    return `${all}${asCalled(initOf(name, '--undo'), call)} removes it.\n`;
  });
}

function noRecord({ root, name, files }: InitTarget): InitProblem {
  const others = installationsIn(files).map((other) => initOf(other, '--undo'));
  return new InitProblem(
    'NO_RECORD',
    `there is no ${recordPath(name)} in ${root}`,
    others.length === 0
      ? 'cairn init was not run here, or was undone.'
      : `To take out what cairn init added here, run ${others.join(' or ')}.`,
  );
}

async function takeOut(
  context: CommandContext,
  place: InitTarget,
  record: InitRecord | undefined,
): Promise<void> {
  if (record === undefined) throw noRecord(place);
  print(context, undoText(undo(record, readingOnly(place.files)), place.root));
  await confirm(context, place, 'Take Cairn out?');
  const restored = undo(record, place.files);
  const next = stepsAfterUndo(place);
  context.out.answer(
    { root: place.root, name: place.name, ...restored, next },
    ({ style }) => restoredText(restored, style) + stepsText(next, style),
  );
}

/** Prints nothing with `--json`, where both streams have only JSON. */
function print({ notes }: CommandContext, text: string): void {
  if (!notes.json) notes.print(text);
}

async function confirm({ world }: CommandContext, { mayAsk }: InitTarget, question: string): Promise<void> {
  if (!mayAsk) return;
  const why = await declined(world, question);
  if (why !== undefined) throw new InitProblem('NOT_CONFIRMED', why, SAY_YES);
}

/** Width of a terminal. Commands to copy may be longer. */
const COLUMNS = 80;
/** Least width of the descriptions, however long the paths are. */
const MIN_COLUMN = 30;

function planText(
  { changes, region, advice }: InitPlan,
  { root, name, isInstalled }: InitTarget & { readonly isInstalled: boolean },
  style: Style,
): string {
  const lines = changeLines(changes, style);
  const installing = isInstalled ? `  run     ${INSTALL.npm(name)}\n` : '';
  const regionText = `Region of its functions and database: ${region.region} (${clean(region.why)}). Another one: --region REGION. After the first deployment the database cannot be moved, and the functions get other URLs.`;
  return `cairn init in ${clean(root)} changes:\n\n${lines.join('')}${installing}
${advised([regionText, ...advice])}
Nothing else: your functions, rules, indexes and site stay as they are.
From then on \`firebase deploy\` also deploys the codebase and the
database '${name}'.\n\n`;
}

function advised(sentences: readonly string[]): string {
  return sentences.map((one) => `${wrap(one, COLUMNS).join('\n')}\n`).join('\n');
}

function changeLines(changes: readonly FileChange[], style: Style): string[] {
  const width = Math.max(...changes.map(({ path }) => path.length));
  const indent = width + 12;
  return changes.flatMap((change) => {
    const lines = change.what.flatMap((what) => wrap(what, Math.max(MIN_COLUMN, COLUMNS - indent)));
    return lines.map((what, i) => {
      const head = i === 0 ? `  ${verbOf(change)}  ${clean(change.path)}` : '';
      return `${head.padEnd(indent)}${style.dim(what)}\n`;
    });
  });
}

function verbOf({ before }: FileChange): string {
  return before === undefined ? 'create' : 'edit  ';
}

function undoText({ restored, takenOut, left }: Restored, root: string): string {
  const list = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? '' : `${title}\n\n${lines.map((line) => `  ${clean(line)}\n`).join('')}\n`;
  return [
    list(`cairn init --undo in ${clean(root)} restores or removes:`, restored),
    list('It takes only its own entries and lines out of:', takenOut),
    list('It leaves:', leftLines(left)),
  ].join('');
}

/** Maximum of left files that are named; a folder counts once. */
const MAX_LEFT_NAMED = 20;

function leftLines(left: Restored['left']): readonly string[] {
  const named = left.slice(0, MAX_LEFT_NAMED).map(({ path, why }) => `${path}: ${why}`);
  const more = left.length - named.length;
  return more > 0 ? [...named, `and ${more} more`] : named;
}

function restoredText({ restored, takenOut, left }: Restored, style: Style): string {
  const lines = [
    `${style.paint('good', '✓')} ${restored.length} files are as before, or gone.`,
    ...takenOut.map(
      (path) => `  ${path} was edited since: what cairn init added was taken out, the rest stays`,
    ),
    ...leftLines(left).map((line) => `${style.paint('warn', '!')} left: ${clean(line)}`),
  ];
  return `${lines.join('\n')}\n`;
}
