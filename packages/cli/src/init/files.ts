/** File access of `init` to the folder of a project. Paths are relative to it, with slashes. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { unreadable } from './problem.ts';

/** Reading methods throw InitProblem READ_FAILED. */
export interface Files {
  /** Undefined: there is no file. */
  read(path: string): Uint8Array | undefined;
  exists(path: string): boolean;
  /** False for a symbolic link to one. */
  isFolder(path: string): boolean;
  /** Names of the files and folders directly in the folder, none if there is no such folder. */
  names(folder: string): readonly string[];
  /** Replaces an existing file. */
  write(path: string, content: Uint8Array): void;
  /** Replaces `to`; a symbolic link stays one, and permissions stay as they are. */
  rename(from: string, to: string): void;
  /** Does nothing if there is no such file. */
  remove(path: string): void;
  /** Removes a file, or a folder with its contents. Does nothing if there is neither. */
  removeAll(path: string): void;
  /** Returns the created folders, outermost first. */
  makeFolder(path: string): readonly string[];
  /** Removes the folder if it is empty. */
  removeFolder(path: string): void;
}

export function filesOf(root: string): Files {
  const at = (path: string) => join(root, path);
  return {
    read: (path) => reading(path, () => (isFile(at(path)) ? readFileSync(at(path)) : undefined)),
    exists: (path) => existsSync(at(path)),
    isFolder: (path) =>
      reading(path, () => lstatSync(at(path), { throwIfNoEntry: false })?.isDirectory() === true),
    names: (folder) => reading(folder, () => (isFolder(at(folder)) ? readdirSync(at(folder)) : [])),
    write: (path, content) => writeFileSync(at(path), content),
    rename(from, to) {
      const target = existsSync(at(to)) ? realpathSync(at(to)) : at(to);
      if (existsSync(target)) chmodSync(at(from), statSync(target).mode);
      renameSync(at(from), target);
    },
    remove: (path) => rmSync(at(path), { force: true }),
    removeAll: (path) => rmSync(at(path), { force: true, recursive: true }),
    makeFolder: (path) => missingFolders(path, at).map((folder) => made(folder, at)),
    removeFolder(path) {
      if (existsSync(at(path)) && readdirSync(at(path)).length === 0) rmdirSync(at(path));
    },
  };
}

/** The same files with writes ignored, to preview a change. */
export function readingOnly(files: Files): Files {
  const nothing = () => {};
  return {
    read: (path) => files.read(path),
    exists: (path) => files.exists(path),
    isFolder: (path) => files.isFolder(path),
    names: (folder) => files.names(folder),
    write: nothing,
    rename: nothing,
    remove: nothing,
    removeAll: nothing,
    makeFolder: () => [],
    removeFolder: nothing,
  };
}

function reading<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw unreadable(path, error);
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function missingFolders(path: string, at: (path: string) => string): string[] {
  if (path === '.' || existsSync(at(path))) return [];
  return [...missingFolders(dirname(path), at), path];
}

function made(folder: string, at: (path: string) => string): string {
  mkdirSync(at(folder));
  return folder;
}
