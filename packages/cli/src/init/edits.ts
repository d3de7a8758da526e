/**
 * Carries out a plan atomically: all files are written beside their targets first and then renamed, and a failure reverts the
 * renames. The undo restores from the record.
 */
import { dirname } from 'node:path/posix';
import type { Files } from './files.ts';
import { withoutEntries } from './firebase-json.ts';
import { withoutLines } from './ignore-file.ts';
import type { FileChange } from './plan.ts';
import { InitProblem } from './problem.ts';
import { type Created, type Edited, type InitRecord, isAsWritten, recordPath } from './record.ts';

/** Suffix of a written file that is not yet renamed into place. */
const UNPLACED = '.cairn-init';

/** @throws InitProblem CHANGED_MEANWHILE, WRITE_FAILED; then the project is as before */
export function apply(changes: readonly FileChange[], files: Files): void {
  for (const { path, before } of changes) assertUnchanged(path, before, files);
  const folders: string[] = [];
  const placed: FileChange[] = [];
  try {
    for (const { path, after } of changes) {
      folders.push(...files.makeFolder(dirname(path)));
      files.write(path + UNPLACED, after);
    }
    for (const change of changes) {
      files.rename(change.path + UNPLACED, change.path);
      placed.push(change);
    }
  } catch (error) {
    takeBack(changes, { placed, folders, files });
    throw new InitProblem(
      'WRITE_FAILED',
      `the project cannot be written: ${(error as Error).message}`,
      'Nothing was changed. Correct the named problem, then run cairn init again.',
    );
  }
}

/**
 * Removes the files of an `init` that was interrupted before its first rename. Call it if there is no record; otherwise the undo
 * removes them. The record is written first: without a written record, the folder does not belong to Cairn.
 *
 * @throws InitProblem WRITE_FAILED
 */
export function removeUnplaced(name: string, files: Files): void {
  const first = recordPath(name) + UNPLACED;
  if (!files.exists(first)) return;
  try {
    for (const path of BESIDE) files.remove(path + UNPLACED);
    removeUnplacedIn(name, files, first);
    // The record goes last, so that an interrupted removal can be repeated.
    files.remove(first);
    files.removeFolder(name);
  } catch (error) {
    throw new InitProblem(
      'WRITE_FAILED',
      `what an interrupted init left cannot be removed: ${(error as Error).message}`,
      'Correct the named problem, then run the command again.',
    );
  }
}

/** Removes files that an interrupted upgrade wrote but did not rename. */
export function removeUnplacedBy(name: string, files: Files): void {
  for (const folder of [`${name}/packages`, name]) {
    const unplaced = files.names(folder).filter((path) => path.endsWith(UNPLACED));
    for (const path of unplaced) files.remove(`${folder}/${path}`);
    files.removeFolder(folder);
  }
}

/** Files of the project that `init` edits. */
const BESIDE = ['firebase.json', '.gitignore'];

function removeUnplacedIn(folder: string, files: Files, except: string): void {
  for (const path of files.names(folder).map((one) => `${folder}/${one}`)) {
    if (path === except) continue;
    if (path.endsWith(UNPLACED)) files.remove(path);
    else if (files.isFolder(path)) removeUnplacedIn(path, files, except);
  }
  files.removeFolder(folder);
}

function assertUnchanged(path: string, before: string | undefined, files: Files): void {
  const now = files.read(path);
  const isSame = before === undefined ? !files.exists(path) : now && Buffer.from(before).equals(now);
  if (isSame) return;
  throw new InitProblem(
    'CHANGED_MEANWHILE',
    `${path} was changed while cairn init was asking`,
    'Run cairn init again. Nothing was changed.',
  );
}

interface UndoneEdits {
  readonly placed: readonly FileChange[];
  readonly folders: readonly string[];
  readonly files: Files;
}

function takeBack(changes: readonly FileChange[], { placed, folders, files }: UndoneEdits): void {
  for (const { path, before } of placed.toReversed()) {
    if (before === undefined) files.remove(path);
    else replace(files, path, Buffer.from(before));
  }
  for (const { path } of changes) files.remove(path + UNPLACED);
  for (const folder of folders.toReversed()) files.removeFolder(folder);
}

/** Writes a file atomically. */
function replace(files: Files, path: string, content: Uint8Array): void {
  files.write(path + UNPLACED, content);
  files.rename(path + UNPLACED, path);
}

export interface Restored {
  /** Restored to their content before `init`, or deleted. */
  readonly restored: readonly string[];
  /** Files edited since: only Cairn's entries or lines were removed. */
  readonly takenOut: readonly string[];
  readonly left: readonly { readonly path: string; readonly why: string }[];
}

/**
 * Restores the project. A file that was edited since is left and reported. The record is removed last, so that an interrupted undo can be repeated.
 *
 * @throws InitProblem WRITE_FAILED
 */
export function undo(record: InitRecord, files: Files): Restored {
  try {
    return restore(record, files);
  } catch (error) {
    throw new InitProblem(
      'WRITE_FAILED',
      `the project cannot be written: ${(error as Error).message}`,
      'Correct the named problem, then run cairn init --undo again: it continues where it stopped.',
    );
  }
}

function restore(record: InitRecord, files: Files): Restored {
  const restored: string[] = [];
  const takenOut: string[] = [];
  const left: Restored['left'][number][] = [];
  for (const edited of record.edited) {
    files.remove(edited.path + UNPLACED);
    const result = undoneEdit(edited, record, files);
    if (result === 'restored') restored.push(edited.path);
    else if (result === 'taken out') takenOut.push(edited.path);
    else left.push({ path: edited.path, why: result.left });
  }
  for (const path of derivedFrom(record, files)) {
    files.removeAll(path);
    restored.push(path);
  }
  for (const created of record.created) {
    const { path } = created;
    files.remove(path + UNPLACED);
    if (!isLeftAsWritten(created, files)) left.push({ path, why: 'it was edited since' });
    else {
      files.remove(path);
      restored.push(path);
    }
  }
  removeUnplacedBy(record.name, files);
  const own = recordPath(record.name);
  files.remove(own);
  restored.push(own);
  const written = [own, ...record.created.map(({ path }) => path)];
  const folders = foldersOf(written);
  const known = new Set([...written, ...folders, ...restored]);
  left.push(
    ...unknownFiles(folders, known, files).map((path) => ({ path, why: 'cairn init did not write it' })),
  );
  for (const folder of folders) files.removeFolder(folder);
  return { restored, takenOut, left };
}

/**
 * Files and folders that `init` did not write. A folder stands for its contents. Files that the undo will remove still exist at
 * this point.
 */
function unknownFiles(folders: readonly string[], known: ReadonlySet<string>, files: Files): string[] {
  return folders
    .flatMap((folder) => files.names(folder).map((name) => `${folder}/${name}`))
    .filter((path) => !known.has(path) && !path.endsWith(UNPLACED))
    .sort();
}

/** Files that package managers create from a package.json. */
const OF_PACKAGES = ['node_modules', 'package-lock.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock'];

/** Generated files, such as `node_modules`, whose source is unchanged since `init`; both are removed together. */
function derivedFrom({ name, created }: InitRecord, files: Files): string[] {
  const isOurs = (file: string) =>
    created.some(
      (one) => one.path === `${name}/${file}` && files.exists(one.path) && isLeftAsWritten(one, files),
    );
  const paths = [...(isOurs('package.json') ? OF_PACKAGES : []), ...(isOurs('tsconfig.json') ? ['lib'] : [])];
  return paths.map((path) => `${name}/${path}`).filter((path) => files.exists(path));
}

/** Also true if the file no longer exists. */
function isLeftAsWritten(created: Created, files: Files): boolean {
  const now = files.read(created.path);
  return now === undefined || isAsWritten(created, now);
}

type UndoneEdit = 'restored' | 'taken out' | { readonly left: string };

function undoneEdit(edited: Edited, record: InitRecord, files: Files): UndoneEdit {
  const { path, before } = edited;
  const now = files.read(path);
  if (now === undefined) return before === null ? 'restored' : { left: 'it no longer exists' };
  if (before !== null && Buffer.from(before).equals(now)) return 'restored';
  if (isAsWritten(edited, now)) {
    if (before === null) files.remove(path);
    else replace(files, path, Buffer.from(before));
    return 'restored';
  }
  const text = Buffer.from(now).toString('utf8');
  if (path === '.gitignore') {
    replace(files, path, Buffer.from(withoutLines(text, record.ignored)));
    return 'taken out';
  }
  const removed = withoutEntries(text, record.entries);
  if (removed === undefined) return { left: 'it is no longer valid JSON, or has a duplicate key' };
  replace(files, path, Buffer.from(removed.text));
  if (removed.left.length === 0) return 'taken out';
  return { left: `the entry '${record.name}' of ${removed.left.join(' and ')} was edited since` };
}

/** Innermost folders first, without the project folder. */
function foldersOf(paths: readonly string[]): string[] {
  const above = (path: string): string[] => {
    const folder = dirname(path);
    return folder === '.' ? [] : [folder, ...above(folder)];
  };
  return [...new Set(paths.flatMap(above))].sort((a, b) => b.split('/').length - a.split('/').length);
}
